import type { Budget } from "../../domain/budget.ts";

export const permissionLevels = ["read", "edit", "full"] as const;
export type Permissions = (typeof permissionLevels)[number];

/** How an agent is started that a team names instead of writing its command line. */
export interface LaunchOptions {
  /** "anthropic/claude-sonnet-4-5"; `null`: the agent's own choice. */
  readonly model: string | null;
  readonly permissions: Permissions;
  /** It runs in Maestro's sandbox, where its own sandbox cannot start. */
  readonly isConfined: boolean;
  readonly reserve: Budget;
  readonly persona: string;
  /** The variables that are passed on. */
  readonly env: Readonly<Record<string, string>>;
}

export interface AgentLaunch {
  readonly argv: readonly string[];
  /** Besides the variables that are passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files of its home, by path. */
  readonly home?: Readonly<Record<string, string>>;
}

/** The name under which the model's own provider knows it. */
export const withoutProvider = (model: string): string => model.slice(model.indexOf("/") + 1);

export const modelFlag = (flag: string, model: string | null): readonly string[] =>
  model === null ? [] : [flag, withoutProvider(model)];
