import { rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import {
  branchNameOf,
  completeOrder,
  type DeliveryFailure,
  type DeliveryOrder,
  type GithubPlace,
} from "../../domain/delivery-order.ts";
import { toErrorJson } from "../../domain/error-json.ts";
import { InputInvalid, MaestroError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { redactError } from "../../domain/redact.ts";
import type { Ticket } from "../../domain/ticket.ts";
import type { Delivered } from "../../journal/journal.ts";
import type { SessionState } from "../../journal/session-state.ts";
import { reach } from "../../store/fault-points.ts";
import type { OpenState } from "../drive.ts";
import { applySession, makeBranch, repositoryOf } from "./deliver.ts";
import { pullRequestTicket } from "./pull-request.ts";
import { sessionDiff } from "./session-diff.ts";

export interface Delivering extends Pick<OpenState, "store" | "artifacts" | "clock" | "stateDirectory"> {
  readonly github: GithubPlace;
  readonly signal?: AbortSignal | undefined;
}

export interface OrderedDelivery extends DeliveryOrder {
  /** Where the branch is made; the session's own repository unless given. */
  readonly repo?: string;
}

export interface Performed {
  /** For the journal. */
  readonly delivered: Delivered;
  readonly tickets: readonly Ticket[];
}

/**
 * Does the parts of an order, one after the other. Each is idempotent, so that after a crash all of them are done again.
 * `fail` hears of a part that could not be done; it may throw to stop there.
 */
export async function performOrder(
  state: SessionState,
  wanted: OrderedDelivery,
  delivering: Delivering,
  fail: (failure: DeliveryFailure, error: unknown) => void,
): Promise<Performed> {
  const order = completeOrder(wanted) ?? {};
  const { artifacts, signal } = delivering;
  const { repo } = wanted;
  let delivered: Delivered = {};
  const tickets: Ticket[] = [];
  const attempt = async (part: DeliveryFailure["part"], work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      signal?.throwIfAborted();
      const failure = { part, message: messageOf(error), command: commandFor(part, state, order) };
      fail(failure, error);
      delivered = { ...delivered, failures: [...(delivered.failures ?? []), failure] };
      return false;
    }
  };
  const { branch: template, push, patch } = order;
  if (template !== undefined) {
    const branch = branchNameOf(template, { id: state.id, key: state.created.key });
    const place = { branch, ...(repo !== undefined && { repo }) };
    const isMade = await attempt("branch", async () => {
      const made = await makeBranch(state, place, delivering);
      delivered = { ...delivered, branch, commits: made.commits };
      reach?.("deliver:after-branch");
    });
    const isPushed =
      isMade &&
      // A branch without a change is of no use to others, and GitHub refuses a request for it.
      delivered.commits?.length !== 0 &&
      push !== undefined &&
      (await attempt("push", async () => {
        const { pushBranch } = await import("../../workspace/repository/push-branch.ts");
        const git = await repositoryOf(state, repo, delivering.stateDirectory);
        const commit = delivered.commits?.at(-1) ?? state.created.source?.commit ?? "";
        await pushBranch(git, { branch, commit, remote: push, signal });
        delivered = { ...delivered, remote: push };
        reach?.("deliver:after-push");
      }));
    if (isPushed && order.pullRequest)
      await attempt("pullRequest", async () => {
        const git = await repositoryOf(state, repo, delivering.stateDirectory);
        const ticket = await pullRequestTicket(state, { git, branch, remote: push }, delivering);
        tickets.push(ticket);
        delivered = { ...delivered, pullRequest: ticket.fingerprint };
      });
  }
  if (patch !== undefined)
    await attempt("patch", async () => {
      await writePatch(patch, await sessionDiff(state, artifacts, {}));
      delivered = { ...delivered, patch };
    });
  if (order.apply)
    await attempt("apply", async () => {
      const { conflicts, written, removed } = await applySession(state, {}, artifacts);
      if (conflicts.length > 0)
        throw new InputInvalid(
          `Nothing was written: ${conflicts.map(({ path, reason }) => `${path}: ${reason}`).join(" ")}`,
        );
      delivered = { ...delivered, applied: { written: written.length, removed: removed.length } };
    });
  return { delivered, tickets };
}

/** By one rename: a crash leaves the old file or the whole new one. */
async function writePatch(file: string, content: Buffer): Promise<void> {
  const path = resolve(file);
  const temporary = join(dirname(path), `.maestro-${newId()}`);
  try {
    await writeFile(temporary, content, { flag: "wx" });
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw new InputInvalid(`The patch cannot be written to ${file}: ${(cause as Error).message}`, {
      advice: "Name a file in an existing folder.",
      cause,
    });
  }
}

function messageOf(error: unknown): string {
  const { message } = redactError(toErrorJson(error));
  const advice = MaestroError.is(error) && error.advice !== undefined ? ` ${error.advice}` : "";
  return `${message}${advice}`.slice(0, 4_000).toWellFormed();
}

function commandFor(
  part: DeliveryFailure["part"],
  { id, created }: SessionState,
  { branch = "", push, pullRequest }: DeliveryOrder,
): readonly string[] {
  if (part === "apply") return ["apply", id];
  if (part === "patch") return ["diff", id];
  const name = branchNameOf(branch, { id, key: created.key });
  return [
    "branch",
    id,
    name,
    ...(push === undefined ? [] : ["--push", push]),
    ...(pullRequest ? ["--pull-request"] : []),
  ];
}
