import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import {
  branchNameOf,
  completeOrder,
  type DeliveryOrder,
  type GithubPlace,
} from "../../domain/delivery-order.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { isGitAddress } from "../../domain/git-address.ts";
import type { Source } from "../../journal/journal.ts";
import { folderOf } from "../programs/read-checks-only.ts";
import { githubRepository } from "./pull-request.ts";

const anyId = "0".repeat(26);

/** Refuses an order that cannot succeed, before anything is paid. */
export async function checkOrder(
  order: DeliveryOrder,
  { source, key }: { readonly source: Source | undefined; readonly key: string | undefined },
  { github, stateDirectory }: { readonly github: GithubPlace; readonly stateDirectory: string },
): Promise<void> {
  const { branch, push, patch, apply, pullRequest } = completeOrder(order) ?? {};
  if (patch !== undefined) await checkPatch(patch);
  if (branch === undefined && apply === undefined) return;
  if (source?.git === undefined)
    throw new InputInvalid("A delivery as a branch or into files needs a repository.", {
      advice: "Name the repository with --repo, or write the files to a folder with --out.",
    });
  if (apply) await checkCheckout(source.git);
  if (branch === undefined) return;
  const { openRepository } = await import("../../workspace/repository/find-repository.ts");
  const { checkBranch } = await import("../../workspace/repository/deliver-branch.ts");
  const git = await openRepository(await folderOf(source.git, source.commit, stateDirectory));
  const isKnown = !branch.includes("{id}") && (key !== undefined || !branch.includes("{key}"));
  await checkBranch(git, branchNameOf(branch, { id: anyId, key }), {
    mustBeFree: isKnown,
    base: source.commit,
    ref: source.ref,
  });
  if (push === undefined) return;
  const { remoteUrl } = await import("../../workspace/repository/push-branch.ts");
  await remoteUrl(git, push);
  if (pullRequest) await githubRepository(git, push, github);
}

async function checkCheckout(git: string): Promise<void> {
  if (isGitAddress(git))
    throw new InputInvalid(`${git} is an address: there is no folder to bring the changes into.`, {
      advice: "Order a branch or a patch, or name a checkout with --repo.",
    });
  const { refuseGitFolder } = await import("../../workspace/git-folder.ts");
  await refuseGitFolder(git);
}

async function checkPatch(file: string): Promise<void> {
  const path = resolve(file);
  const [folder, there] = await Promise.all(
    [dirname(path), path].map((one) => stat(one).catch(() => undefined)),
  );
  if (folder?.isDirectory() && !there?.isDirectory()) return;
  throw new InputInvalid(`The patch cannot be written to ${file}.`, {
    advice: "Name a file in an existing folder.",
  });
}
