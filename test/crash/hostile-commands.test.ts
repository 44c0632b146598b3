import { describe, expect, test } from "vitest";
import { describeSandbox } from "../../src/workspace/sandbox.ts";
import { attackWithCommands } from "../campaign/hostile-commands.ts";

const sandbox = await describeSandbox();

describe.skipIf(sandbox.kind === "none")("hostile commands of a persona (needs bubblewrap)", () => {
  test("read no secret of the home, the environment or the state, send nothing and leave no process", async () => {
    expect(await attackWithCommands(1, { withinMs: 15_000 })).toBeGreaterThan(15);
  });
});
