/** `MAESTRO_TRUST=1` trusts every file that this process uses. For CI, where no person can be asked. */
export const trustVariable = "MAESTRO_TRUST";

const yes = ["1", "true"];
const no = ["", "0", "false"];

export const trustsAll = (env: NodeJS.ProcessEnv): boolean => yes.includes(env[trustVariable]?.trim() ?? "");

/** Why the variable's value is refused: it must mean neither yes nor silently no. */
export function trustVariableProblem(value: string): string | undefined {
  if ([...yes, ...no].includes(value.trim())) return undefined;
  return `environment: ${trustVariable} is ${JSON.stringify(value.slice(0, 40))}; allowed is 1 or 0.`;
}
