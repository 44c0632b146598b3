import { describe, expect, test } from "vitest";
import { emptyContract } from "../../../src/domain/contract.ts";
import { builtIn } from "../../../src/personas/tools/offered-tool.ts";
import { toolPolicy } from "../../../src/personas/tools/tool-runner.ts";
import type { ToolName } from "../../../src/personas/tools/tool-table.ts";

type Policy = Parameters<typeof toolPolicy>[0];

const free = { read: null, write: null, checks: null };
const allows = (policy: Partial<Policy>, tool: ToolName, args = {}) =>
  toolPolicy({ ...free, ...policy }).allow(builtIn(tool, emptyContract), args);

describe("a persona without a policy", () => {
  test.each<[ToolName, object]>([
    ["write_file", { path: "anywhere.txt" }],
    ["edit_file", { path: "src/a.ts" }],
    ["run_check", { name: "unit" }],
    ["read_file", { path: "a" }],
  ])("may use %s", (tool, args) => {
    expect(allows({}, tool, args)).toEqual({ allowed: true });
  });
});

describe("a policy", () => {
  test.each<[Partial<Policy>, ToolName, object, string]>([
    [{ write: ["docs/**"] }, "write_file", { path: "src/a.js" }, "src/a.js is not one of the files"],
    [{ write: ["docs/**"] }, "edit_file", { path: "docs.md" }, "docs.md is not one of the files"],
    [{ write: [] }, "write_file", { path: "a" }, "may write: none"],
    [{ write: ["docs/**"] }, "delete_file", { path: "src/a.js" }, "src/a.js is not one of the files"],
    [{ write: ["docs/**"] }, "move_file", { from: "src/a.js", to: "docs/a.js" }, "src/a.js is not one of"],
    [{ write: ["docs/**"] }, "move_file", { from: "docs/a.js", to: "src/a.js" }, "src/a.js is not one of"],
    [{ checks: ["unit"] }, "run_check", { name: "deploy" }, "the check deploy is not one of unit"],
    [{ checks: [] }, "run_check", { name: "unit" }, "the check unit is not one of none"],
    [{ checks: ["unit"] }, "run_check", { name: ["unit"] }, "the check  is not one of unit"],
  ])("%j refuses %s %j with a reason", (policy, tool, args, reason) => {
    expect(allows(policy, tool, args)).toEqual({ allowed: false, reason: expect.stringContaining(reason) });
  });

  test.each<[Partial<Policy>, ToolName, object]>([
    [{ write: ["docs/**"] }, "write_file", { path: "docs/deep/a.md" }],
    [{ write: ["docs/**"] }, "read_file", { path: "src/a.js" }],
    [{ write: ["docs/**"] }, "move_file", { from: "docs/a.md", to: "docs/b.md" }],
    [{ checks: ["unit"] }, "run_check", { name: "unit" }],
  ])("%j allows %s %j", (policy, tool, args) => {
    expect(allows(policy, tool, args)).toEqual({ allowed: true });
  });
});
