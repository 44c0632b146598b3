/** Settings of an attempt that healing changed. */
export interface AttemptSettings {
  readonly model?: string;
  /** The kept share of the optional context in the prompt. 1 is all of it. */
  readonly contextShare?: number;
  readonly timeoutMs?: number;
  readonly maxOutputTokens?: number;
}

/** An import as written, and its corrected target. */
export interface FixedImport {
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

/** A record is short: `more` counts items beyond the named ones. The healer's step has every file with its bytes. */
interface Listed {
  readonly more?: number;
}

/**
 * A healer's action, which can be undone: files are rolled back to the tree before the healer's step, outputs to
 * those of the work, and a setting to `from`.
 */
export type HealingAction =
  | ({ readonly kind: "edited-files"; readonly paths: readonly string[] } & Listed)
  | ({
      readonly kind: "ran-tool";
      readonly argv: readonly string[];
      readonly paths: readonly string[];
    } & Listed)
  /** A package that package.json declares, in `node_modules`: for checks and tools, never delivered. */
  | ({
      readonly kind: "installed-dependency";
      readonly name: string;
      readonly version: string;
      readonly paths: readonly string[];
    } & Listed)
  | ({ readonly kind: "fixed-imports"; readonly imports: readonly FixedImport[] } & Listed)
  /** The members of the outputs that differ from the work's own. */
  | ({ readonly kind: "repaired-outputs"; readonly members: readonly string[] } & Listed)
  | { readonly kind: "shortened-context"; readonly from: number; readonly to: number }
  | { readonly kind: "switched-model"; readonly from: string; readonly to: string }
  | {
      readonly kind: "raised-limit";
      readonly limit: "timeoutMs" | "maxOutputTokens";
      readonly from: number;
      readonly to: number;
    }
  /** The healer's own description. Maestro reads the changes from the files, not from this text. */
  | ({
      readonly kind: "custom";
      readonly words: string;
      readonly paths: readonly string[];
      readonly members: readonly string[];
      readonly settings?: { readonly from: AttemptSettings; readonly to: AttemptSettings };
    } & Listed);

export type InstalledDependency = Extract<HealingAction, { kind: "installed-dependency" }>;

/** One action of one healer, with its result. */
export interface Healed {
  readonly healer: string;
  /** A description of the action. */
  readonly action: string;
  readonly did: HealingAction;
  readonly outcome: "passed" | "rolled-back" | "kept";
  /** The file with which the action violated the persona's policy. */
  readonly forbidden?: string;
}

/** The form in older journals, with a description only. */
type RecordedHealed = Omit<Healed, "did"> & Partial<Pick<Healed, "did">>;

/** The effect of an action on later attempts; undefined unless it changes their settings. */
export function settingsOf(action: HealingAction): AttemptSettings | undefined {
  switch (action.kind) {
    case "shortened-context":
      return { contextShare: action.to };
    case "switched-model":
      return { model: action.to };
    case "raised-limit":
      return { [action.limit]: action.to };
    case "custom":
      return action.settings?.to;
    case "edited-files":
    case "ran-tool":
    case "installed-dependency":
    case "fixed-imports":
    case "repaired-outputs":
      return undefined;
  }
}

/** The action for people. */
export function inWords(action: HealingAction): string {
  switch (action.kind) {
    case "edited-files":
      return `edited ${listed(action.paths, action)}`;
    case "ran-tool":
      return `ran ${action.argv.join(" ")}, which changed ${listed(action.paths, action)}`;
    case "installed-dependency":
      return `installed ${action.name}@${action.version}: ${listed(action.paths, action)}`;
    case "fixed-imports":
      return `pointed imports to files that exist: ${listed(
        action.imports.map(({ path, from, to }) => `${from} in ${path} is ${to}`),
        action,
      )}`;
    case "repaired-outputs":
      return `put the outputs into the form of the contract's schema: ${listed(action.members, action)}`;
    case "shortened-context":
      return `keep ${Math.round(action.to * 100)} % of the earlier results in the prompt`;
    case "switched-model":
      return `continue with ${action.to} instead of ${action.from}`;
    case "raised-limit":
      return action.limit === "timeoutMs"
        ? `let the next attempt stand still for ${action.to / 1_000} s instead of ${action.from / 1_000} s`
        : `let answers have ${action.to} tokens instead of ${action.from}`;
    case "custom":
      return action.words;
  }
}

/** Older journals have only the description. */
export function readHealed(recorded: RecordedHealed): Healed {
  const { did = { kind: "custom", words: recorded.action, paths: [], members: [] } } = recorded;
  return { ...recorded, did };
}

const mostListed = 5;

function listed(items: readonly string[], beside: Listed): string {
  if (items.length === 0) return "nothing";
  const more = Math.max(0, items.length - mostListed) + (beside.more ?? 0);
  return items.slice(0, mostListed).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
