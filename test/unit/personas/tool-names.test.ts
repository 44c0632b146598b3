import { expect, test } from "vitest";
import { emptyContract } from "../../../src/domain/contract.ts";
import { builtIn } from "../../../src/personas/tools/offered-tool.ts";
import { place, submit } from "./persona-place.ts";

test("two tools with one name are an error, so that none replaces the other in silence", async () => {
  const tools = (["submit", "read_file", "read_file"] as const).map((name) => builtIn(name, emptyContract));
  const { run } = await place([submit()], { tools });
  await expect(run()).rejects.toThrow("Two tools have the name read_file.");
});
