import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { SessionEvent } from "../../index.ts";
import { packageFile } from "../../package-files.ts";
import { entryFile } from "../detach.ts";

/** A folder of `teams/`. */
export type DemoName = "demo" | "demo-repository";

/** The team of a demo, and the script that its model plays. */
export const demoFiles = (name: DemoName) => ({
  teamFile: fileURLToPath(packageFile(`teams/${name}/team.yaml`)),
  scriptFile: fileURLToPath(packageFile(`teams/${name}/script.yaml`)),
});

export interface Ended {
  readonly pid: number;
  readonly killed: boolean;
  readonly code: number | null;
  /** The end of standard error, for the error message. */
  readonly said: string;
}

/** The demo folder does not use the user's configuration. */
export const demoEnvironment = (folder: string) => ({ XDG_CONFIG_HOME: folder });

/** Runs the command in a child process, and kills it with SIGKILL at the chosen event. */
export async function runMaestro(
  args: readonly string[],
  name: DemoName,
  folder: string,
  onEvent: (event: SessionEvent) => void,
  isTheMoment: (event: SessionEvent) => boolean,
): Promise<Ended> {
  // The user's own settings must not change the demo.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("MAESTRO_")),
  );
  const child = spawn(process.execPath, [entryFile, ...args, "--json"], {
    cwd: folder,
    env: { ...env, ...demoEnvironment(folder), MAESTRO_SIMULATED_SCRIPT: demoFiles(name).scriptFile },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // Ctrl-C reaches the child too. Any other exit of this process must not leave it running.
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  const exited = once(child, "close") as Promise<[number | null]>;
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2_000);
  });
  let killed = false;
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as SessionEvent;
    onEvent(event);
    // Also show events that were in the pipe when the process died, because they were recorded.
    if (!killed && isTheMoment(event)) killed = child.kill("SIGKILL");
  }
  const [code] = await exited;
  process.off("exit", end);
  return { pid: child.pid ?? 0, killed, code, said };
}
