/** `MAESTRO_TRUST=1` trusts every file that this process is pointed at: for CI, where no person can be asked. */
export const trustVariable = "MAESTRO_TRUST";

const yes = ["1", "true"];
const no = ["", "0", "false"];

export const trustsAll = (env: NodeJS.ProcessEnv): boolean => yes.includes(env[trustVariable]?.trim() ?? "");

/** Why the variable's value is refused: it must not pass for yes, nor silently for no. */
export function trustVariableProblem(value: string): string | undefined {
  if ([...yes, ...no].includes(value.trim())) return undefined;
  return `environment: ${trustVariable} is ${JSON.stringify(value.slice(0, 40))}; allowed is 1 or 0.`;
}
