import { flushCompileCache } from "node:module";
import { setTimeout as pass } from "node:timers/promises";
import { leaveMark, readMarks } from "./effects.ts";
import { defineTeam, open, persona, phase } from "./package.ts";

/** A process with one session that ends it and several innocent ones, each in one long call. */
export interface SuspectsOptions {
  readonly stateDir: string;
  readonly marks: string;
  readonly innocents: number;
  /** How long the call of an innocent session takes. */
  readonly callMs: number;
  /** Where the guilty session stands in the order of starts. */
  readonly guiltyStarts: "first" | "last";
  /** How the guilty session ends its process. */
  readonly ends: "exit" | "abort";
  /** The first process starts the sessions; each later one only recovers them. */
  readonly isFirst: boolean;
}

const { stateDir, marks, innocents, callMs, guiltyStarts, ends, isFirst } = JSON.parse(
  process.argv[2] ?? "",
) as SuspectsOptions;
// A process that ends itself does not write its compile cache, and the next one would start slowly.
flushCompileCache();

const calls = () => readMarks(marks).filter((mark) => mark.startsWith("innocent")).length;
const before = calls();

const guilty = persona("guilty", {
  run: async ({ step }) => {
    await step("end", async () => {
      leaveMark(marks, "guilty");
      // The others have begun their calls, if they run beside it.
      for (let waited = 0; calls() < before + innocents && waited < 1_000; waited += 50) await pass(50);
      return ends === "exit" ? process.exit(7) : process.abort();
    });
    return { summary: "still here" };
  },
});
const innocent = persona("innocent", {
  run: async ({ brief, step }) => {
    await step("call", async () => {
      leaveMark(marks, brief);
      await pass(callMs);
      return "answered";
    });
    return { summary: "called" };
  },
});
const team = (name: string, of: typeof guilty) =>
  defineTeam(name, { phases: [phase("work", { personas: [of] })] });
const [guiltyTeam, innocentTeam] = [team("guilty", guilty), team("innocent", innocent)];
const maestro = await open({ stateDir, teams: [guiltyTeam, innocentTeam], recover: !isFirst });
if (isFirst) {
  const startGuilty = () => maestro.start(guiltyTeam, { brief: "guilty", key: "guilty" });
  if (guiltyStarts === "first") await startGuilty();
  for (let number = 1; number <= innocents; number += 1)
    await maestro.start(innocentTeam, { brief: `innocent ${number}`, key: `innocent-${number}` });
  if (guiltyStarts === "last") await startGuilty();
}
process.on("message", () => {});
