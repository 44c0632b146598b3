import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { appendFileSync } from "node:fs";
import { defineTeam, type PersonaContext, persona, phase } from "../../../../src/index.ts";

const forever = (): never => {
  for (;;);
};

const never = () => new Promise<never>(() => undefined);

/** Ways to end, exhaust or disturb the process, by the first word of the brief. */
const wild: Readonly<Record<string, (context: PersonaContext) => unknown>> = {
  rejection: () => void Promise.reject(new Error("left behind")),
  timer: () => {
    setTimeout(() => JSON.parse("{"), 1);
    return never();
  },
  emitter: () => {
    setImmediate(() => new EventEmitter().emit("error", new Error("left behind")));
    return never();
  },
  exit: () => process.exit(0),
  abort: () => process.abort(),
  heap: () => {
    const held: number[][] = [];
    for (;;) held.push(Array.from({ length: 1_000_000 }, () => 0.5));
  },
  buffers: () => {
    const held: Buffer[] = [];
    for (;;) held.push(Buffer.alloc(16 * 1_024 * 1_024, 1));
  },
  loop: forever,
  flood: ({ step }) => {
    for (;;) void step("one of too many", () => 1);
  },
  "step-exit": ({ step }) => step("ends the process", () => process.exit(7)),
  "step-loop": ({ step }) => step("loops", forever),
  environment: () => [process.env["FUNCTION_MARK"], process.cwd()].join(" in "),
};

/** `<way> [file]`: notes the ids of its processes in the file, and then does it. */
export default defineTeam("wild", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          timeoutMs: 10_000,
          maxAttempts: 1,
          run: async (context) => {
            const [way = "", file] = context.brief.split(" ");
            await context.step("before", () => "recorded");
            if (file !== undefined) appendFileSync(file, `${process.pid} ${(await startOther()).pid}\n`);
            return { summary: String(await wild[way]?.(context)) };
          },
        }),
      ],
    }),
  ],
});

async function startOther(): Promise<ChildProcess> {
  const other = spawn("sleep", ["1000"], { stdio: "ignore" });
  await once(other, "spawn");
  return other;
}
