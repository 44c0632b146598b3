import { money } from "../../domain/amounts.ts";
import { microsToUsd } from "../../domain/budget.ts";
import type { GithubPlace } from "../../domain/delivery-order.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { pullRequestFingerprint, type Ticket } from "../../domain/ticket.ts";
import { showPath } from "../../domain/tree-path.ts";
import type { SessionState } from "../../journal/session-state.ts";
import type { Git } from "../../workspace/repository/git.ts";
import type { OpenState } from "../drive.ts";

const mostTitle = 200;
const mostBody = 60_000;

/** "owner/name" of the remote. Its address decides only if it is on the configured host. */
export async function githubRepository(git: Git, remote: string, github: GithubPlace): Promise<string> {
  if (!github.hasToken)
    throw new InputInvalid("A pull request needs a token of GitHub.", {
      advice: "Set MAESTRO_GITHUB_TOKEN to a token that may write pull requests.",
    });
  const { remoteUrl } = await import("../../workspace/repository/push-branch.ts");
  const found = repositoryIn(await remoteUrl(git, remote), hostOf(github.apiUrl)) ?? github.repository;
  if (found !== undefined) return found;
  throw new InputInvalid(`The remote ${showPath(remote)} is not on ${hostOf(github.apiUrl)}.`, {
    advice:
      "Push to a remote that is there, set github.apiUrl to your GitHub, or name the repository in github.repository.",
  });
}

/** The request for the outbox. Its text depends on the record only. */
export async function pullRequestTicket(
  state: SessionState,
  { git, branch, remote }: { readonly git: Git; readonly branch: string; readonly remote: string },
  { store, clock, github }: Pick<OpenState, "store" | "clock"> & { readonly github: GithubPlace },
): Promise<Ticket> {
  const repository = await githubRepository(git, remote, github);
  const commit = await git.text(["rev-parse", "--verify", `refs/heads/${branch}`]);
  const { created, id } = state;
  const base = created.source?.ref;
  const [firstLine = ""] = created.brief.trim().split("\n");
  const title =
    firstLine.length <= mostTitle ? firstLine : `${firstLine.slice(0, mostTitle).toWellFormed()}…`;
  const totals = await store.reports.totals(id);
  const used = totals.find(({ level }) => level === "session")?.used ?? { tokens: 0, microUsd: null };
  const fingerprint = pullRequestFingerprint({ repository, branch, session: id });
  return {
    id: newId(),
    fingerprint,
    problem: fingerprint,
    sessionId: id,
    team: created.team,
    phase: "-",
    persona: "maestro",
    category: "PULL_REQUEST",
    summary: title,
    attempts: 0,
    failures: [],
    details: bodyOf(state, used).slice(0, mostBody).toWellFormed(),
    context: {},
    suggestedActions: [],
    resumeCommand: "",
    createdAt: clock.now(),
    pullRequest: {
      repository,
      head: branch,
      commit,
      ...(base !== undefined && isBranchName(base) && { base }),
    },
  };
}

/** `HEAD` and a hash are no branches; GitHub's own default is used instead. */
const isBranchName = (ref: string): boolean => ref !== "HEAD" && !/^[0-9a-f]{7,64}$/.test(ref);

function bodyOf(
  state: SessionState,
  used: { readonly tokens: number; readonly microUsd: number | null },
): string {
  const phases = [...state.phases];
  const summaries = phases.flatMap(([phase, { personas }]) =>
    [...personas].flatMap(([persona, { result }]) =>
      result === undefined ? [] : [`- **${phase}, ${persona}**: ${oneLine(result.summary)}`],
    ),
  );
  const decisions = state.decisions.flatMap(({ title, reason, phase }) =>
    phase === undefined ? [] : [`- ${oneLine(title)}: ${oneLine(reason)}`],
  );
  const checks = phases.flatMap(([phase, { checks }]) =>
    checks.flatMap(({ persona, results }) =>
      results.map(
        ({ name, status, message }) =>
          `- ${phase}, ${persona}: ${oneLine(name)} **${status}**${message === "" ? "" : ` (${oneLine(message)})`}`,
      ),
    ),
  );
  const cost = used.microUsd === null ? "" : `, ${money(microsToUsd(used.microUsd))}`;
  return [
    state.created.brief.trim(),
    section("Summary", summaries),
    section("Decisions", decisions),
    section("Checks", checks),
    `## Cost\n\n${used.tokens.toLocaleString("en-US")} tokens${cost}`,
    `Maestro-Session: ${state.id}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : `## ${title}\n\n${lines.slice(0, 100).join("\n")}`;

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, 1_000).toWellFormed();

/** The host of addresses that people push to. */
function hostOf(apiUrl: string | undefined): string {
  const host = apiUrl === undefined ? "api.github.com" : new URL(apiUrl).hostname;
  return host === "api.github.com" ? "github.com" : host;
}

/** `https://host/owner/name.git`, `ssh://git@host/owner/name` and `git@host:owner/name.git`. */
export function repositoryIn(url: string, host: string): string | undefined {
  const [, scpHost, scpPath] = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)(.+)$/.exec(url) ?? [];
  const parsed =
    URL.canParse(url) && /^(?:https?|ssh|git):$/.test(new URL(url).protocol) ? new URL(url) : undefined;
  const [foundHost, path] =
    parsed === undefined ? [scpHost, scpPath] : [parsed.hostname, parsed.pathname.slice(1)];
  if (foundHost?.toLowerCase() !== host.toLowerCase()) return undefined;
  return /^([A-Za-z0-9][A-Za-z0-9-]*\/(?!\.{1,2}(?:\.git)?\/?$)[\w.-]+?)(?:\.git)?\/?$/.exec(path ?? "")?.[1];
}
