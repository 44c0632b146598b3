import type { ChildProcess } from "node:child_process";
import { sha256 } from "../domain/canonical.ts";
import { ConfigInvalid } from "../domain/errors.ts";
import { launchBare } from "./bare-launch.ts";
import { type Confinement, ProcessGroup, SandboxedProcess } from "./confinement.ts";
import { type Launch, start } from "./launch.ts";
import { type CommandLimits, commandLimits } from "./process-limits.ts";
import { describeSandbox, type SandboxRule } from "./sandbox.ts";
import { launchInSandbox } from "./sandbox-launch.ts";
import type { PlaceOptions } from "./sandbox-places.ts";
import { unconfined } from "./unconfined.ts";

export interface Service extends PlaceOptions {
  readonly argv: readonly string[];
  /** Its own writable folder. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly network: boolean;
  readonly sandbox?: SandboxRule | undefined;
  readonly limits?: CommandLimits | undefined;
}

/** A program that runs until it is stopped and communicates over standard input and output. */
export interface RunningService {
  readonly child: ChildProcess;
  /** When it returns, none of its processes is running. */
  stop(): Promise<void>;
}

const environment = { LANG: "C.UTF-8", TZ: "UTC", NO_COLOR: "1" } as const;

/** Throws if a required sandbox or the program is missing. */
export async function startService(service: Service): Promise<RunningService> {
  const { argv, sandbox: rule } = service;
  const program = argv[0] ?? "";
  const request = {
    argv: argv as readonly [string, ...string[]],
    directory: service.directory,
    env: { ...environment, ...service.env },
    writable: "workspace",
    network: service.network,
    places: service,
    limits: service.limits ?? commandLimits,
    layers: { parts: [], folder: service.directory },
  } as const;
  if (rule === "none") {
    const mark = sha256(service.directory);
    const env = { ...request.env, MAESTRO_COMMAND: mark };
    const launch = await launchBare({ ...request, env }, { home: service.directory, layers: [] });
    return running(program, launch, (child) => new ProcessGroup(child, `MAESTRO_COMMAND=${mark}`));
  }
  const sandbox = await describeSandbox();
  if (sandbox.kind === "none") throw unconfined(`${program} was not started`, sandbox);
  return running(program, await launchInSandbox(sandbox, request), (child) => new SandboxedProcess(child));
}

function running(
  program: string,
  launch: Launch | string,
  confine: (child: ChildProcess) => Confinement,
): RunningService {
  if (typeof launch === "string") {
    throw new ConfigInvalid(`${program} could not be started: ${launch}.`, {
      advice: `Install ${program}, or correct its command. Then resume.`,
    });
  }
  const child = start({ ...launch, stdin: "open" }, undefined);
  const confinement = confine(child);
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  return {
    child,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
        await confinement.stop();
        await exited;
      }
      await confinement.settle();
      for (const stream of child.stdio) stream?.destroy();
    },
  };
}
