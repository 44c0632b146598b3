import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../src/index.ts";
import { modelKey } from "../support/loopback-models.ts";
import { calls, ModelHive, protocols } from "../support/model-hive.ts";

const team = defineTeam("talkative", {
  phases: [phase("only", { personas: [persona("worker", { instructions: "Write a.txt." })] })],
});

/** Every file, with the database and its write-ahead log. */
function filesWith(folder: string, text: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  expect(files.some((file) => file.endsWith("maestro.db"))).toBe(true);
  return files.filter((file) => readFileSync(file).includes(text));
}

test.each(protocols)("a key that %s repeats in its errors is nowhere on disk", async (model) => {
  const message = `The key ${modelKey} is not welcome (Bearer ${modelKey}).`;
  let asked = 0;
  const hive = await ModelHive.open(({ answersBefore }) => {
    asked += 1;
    if (asked === 1) return { fault: "stream-error", status: 529, code: "overloaded_error", message };
    if (asked === 2) return { fault: "refuse", status: 500, code: "server_error", message };
    if (answersBefore === 0) return calls("write_file", { path: "a.txt", content: "a\n" });
    return { fault: "refuse", status: 403, code: "permission_error", message };
  });
  const { result, view } = await hive.run(team, { model });
  expect(result).toMatchObject({ status: "parked", reason: "help" });
  expect(JSON.stringify([result, view])).not.toContain(modelKey);
  expect(JSON.stringify(view)).toContain("is not welcome");
  expect(filesWith(hive.stateDir, "is not welcome")).not.toEqual([]);
  expect(filesWith(hive.stateDir, modelKey)).toEqual([]);
});
