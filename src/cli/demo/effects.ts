import { appendFile } from "node:fs/promises";

/** Beside the project, one line for each thing really done: how the demo proves that nothing was done twice. */
export function effectsFile(project: string): string {
  return `${project}.effects.log`;
}

export async function noteEffect(project: string, what: string): Promise<void> {
  await appendFile(effectsFile(project), `${what}\n`);
}
