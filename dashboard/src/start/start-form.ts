import type { StartRequest, TeamsView } from "../api/types.ts";
import { parseMoney } from "../format/money.ts";
import { shellCommand } from "../format/shell-command.ts";
import { checkSource, emptySource, type SourceForm } from "./source-form.ts";

/** The fields as typed. */
export interface StartForm {
  readonly brief: string;
  readonly team: string;
  readonly model: string;
  readonly key: string;
  readonly usd: string;
  readonly tokens: string;
  readonly pauseAfter: readonly string[];
  readonly source: SourceForm;
}

export const emptyStart: StartForm = {
  brief: "",
  team: "",
  model: "",
  key: "",
  usd: "",
  tokens: "",
  pauseAfter: [],
  source: emptySource,
};

/** The problems that can be found without a server, by field of the request. */
export function checkStart({ brief, model, usd, tokens, source }: StartForm): Map<string, string> {
  const wrong = new Map<string, string>();
  if (brief.trim() === "") wrong.set("brief", "Describe the work.");
  const wrongModel = modelProblem(model);
  if (wrongModel !== undefined) wrong.set("model", wrongModel);
  if (usd.trim() !== "" && !((parseMoney(usd) ?? 0) > 0))
    wrong.set("budget.usd", "An amount above zero, such as 12.50.");
  if (tokens.trim() !== "" && parseTokens(tokens) === undefined)
    wrong.set("budget.tokens", "A whole number above zero, such as 400,000.");
  for (const [field, problem] of checkSource(source)) wrong.set(field, problem);
  return wrong;
}

/** The problem of a model's name that can be found without a server. An empty name has none. */
export function modelProblem(model: string): string | undefined {
  const name = model.trim();
  return name === "" || name === "simulated" || /^[^/\s]+\/\S+$/.test(name)
    ? undefined
    : "A model is written provider/model.";
}

export function startRequest({ brief, team, model, key, usd, tokens, pauseAfter }: StartForm): StartRequest {
  const dollars = parseMoney(usd);
  const tokenLimit = parseTokens(tokens);
  const budget = {
    ...(dollars !== undefined && { usd: dollars }),
    ...(tokenLimit !== undefined && { tokens: tokenLimit }),
  };
  return {
    team,
    brief: brief.trim(),
    ...(key.trim() !== "" && { key: key.trim() }),
    ...(model.trim() !== "" && { model: model.trim() }),
    ...(Object.keys(budget).length > 0 && { budget }),
    ...(pauseAfter.length > 0 && { pauseAfter }),
  };
}

type Team = Pick<TeamsView["teams"][number], "builtIn" | "file">;

/** The same as a command for a terminal. Undefined if the team has no file to name. */
export function startCommand(
  { brief, model, key, usd, tokens, pauseAfter, source }: StartForm,
  team: Team | undefined,
  stateDirectory: string | null = null,
): string | undefined {
  if (team === undefined || (!team.builtIn && team.file === null)) return undefined;
  // Files of this browser are not on the server's disk.
  if (source.kind === "upload" || source.kind === "given") return undefined;
  const repository = source.kind === "repository";
  const dollars = parseMoney(usd);
  const tokenLimit = parseTokens(tokens);
  const flags = {
    "--team": team.file ?? "",
    "--model": model.trim(),
    "--key": key.trim(),
    "--budget-usd": dollars === undefined ? "" : String(dollars),
    "--budget-tokens": tokenLimit === undefined ? "" : String(tokenLimit),
    "--pause-after": pauseAfter.join(","),
    "--repo": repository ? source.git.trim() : "",
    "--ref": repository ? source.ref.trim() : "",
  };
  const given = Object.entries(flags).filter(([, value]) => value !== "");
  return shellCommand(["run", brief.trim() === "" ? "..." : brief.trim(), ...given.flat()], stateDirectory);
}

function parseTokens(text: string): number | undefined {
  const plain = text.trim().replaceAll(",", "").replaceAll("_", "");
  if (!/^\d{1,15}$/.test(plain) || Number(plain) === 0) return undefined;
  return Number(plain);
}
