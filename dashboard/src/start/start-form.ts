import type { StartRequest, TeamsView } from "../api/types.ts";
import { parseMoney } from "../format/money.ts";

/** What is in the fields, as typed. */
export interface StartForm {
  readonly brief: string;
  readonly team: string;
  readonly model: string;
  readonly key: string;
  readonly usd: string;
  readonly tokens: string;
  readonly pauseAfter: readonly string[];
}

export const emptyStart: StartForm = {
  brief: "",
  team: "",
  model: "",
  key: "",
  usd: "",
  tokens: "",
  pauseAfter: [],
};

/** What can be said without the server, by the name of the request's field. */
export function checkStart({ brief, model, usd, tokens }: StartForm): Map<string, string> {
  const wrong = new Map<string, string>();
  if (brief.trim() === "") wrong.set("brief", "Say what is to be done.");
  if (model.trim() !== "" && model.trim() !== "simulated" && !/^[^/\s]+\/\S+$/.test(model.trim()))
    wrong.set("model", "A model is written provider/model.");
  if (usd.trim() !== "" && !((parseMoney(usd) ?? 0) > 0))
    wrong.set("budget.usd", "An amount above zero, such as 12.50.");
  if (tokens.trim() !== "" && parseTokens(tokens) === undefined)
    wrong.set("budget.tokens", "A whole number above zero, such as 400,000.");
  return wrong;
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

/** The same in a terminal. The brief is quoted so that a shell takes it as it is. Undefined: the team has no file to name. */
export function startCommand(
  { brief, model, key, usd, tokens, pauseAfter }: StartForm,
  team: Team | undefined,
): string | undefined {
  if (team === undefined || (!team.builtIn && team.file === null)) return undefined;
  const dollars = parseMoney(usd);
  const tokenLimit = parseTokens(tokens);
  return [
    "maestro run",
    quoted(brief.trim() === "" ? "..." : brief.trim()),
    ...(team.file === null ? [] : [`--team ${quotedPath(team.file)}`]),
    ...(model.trim() === "" ? [] : [`--model ${model.trim()}`]),
    ...(key.trim() === "" ? [] : [`--key ${quotedIfNeeded(key.trim())}`]),
    ...(dollars === undefined ? [] : [`--budget-usd ${dollars}`]),
    ...(tokenLimit === undefined ? [] : [`--budget-tokens ${tokenLimit}`]),
    ...(pauseAfter.length === 0 ? [] : [`--pause-after ${pauseAfter.join(",")}`]),
  ].join(" ");
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const quotedIfNeeded = (text: string): string => (/^[\w.-]+$/.test(text) ? text : quoted(text));

const quotedPath = (text: string): string => (/^[\w./-]+$/.test(text) ? text : quoted(text));

function parseTokens(text: string): number | undefined {
  const plain = text.trim().replaceAll(",", "").replaceAll("_", "");
  if (!/^\d{1,15}$/.test(plain) || Number(plain) === 0) return undefined;
  return Number(plain);
}
