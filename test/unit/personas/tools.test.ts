import { describe, expect, test } from "vitest";
import type { CheckResult, Contract } from "../../../src/domain/contract.ts";
import { createFailure } from "../../../src/domain/failure.ts";
import { textPage } from "../../../src/personas/tools/text-page.ts";
import type { ToolOutcome } from "../../../src/personas/tools/tool-runner.ts";
import { MemoryFiles } from "../../support/memory-files.ts";
import { call, place, submit } from "./persona-place.ts";

const noChecks: Contract = { deliverables: [], checks: [] };

/** The result of one tool call, as the model gets it. */
async function told(
  tool: string,
  input: object,
  files = new MemoryFiles(),
  more: { readonly contract?: Contract; readonly runCheck?: (name: string) => Promise<CheckResult> } = {},
): Promise<string> {
  const { runCheck, contract = noChecks } = more;
  const { run, steps } = await place([call(tool, input), submit()], {
    files,
    work: { contract },
    ...(runCheck && { runCheck }),
  });
  await run();
  const { prompt } = JSON.parse(steps.asked.at(-1) ?? "") as { readonly prompt: readonly Told[] };
  return prompt.find(({ role }) => role === "tool")?.content[0]?.output.value ?? "";
}

interface Told {
  readonly role: string;
  readonly content: readonly { readonly output: { readonly value: string } }[];
}

const lines = (count: number, of = (line: number) => `line ${line}`): string =>
  Array.from({ length: count }, (_, index) => `${of(index + 1)}\n`).join("");

describe("read_file", () => {
  test("gives a whole file as it is", async () => {
    const files = new MemoryFiles({ "a.md": "# A\n\ntext\n" });
    expect(await told("read_file", { path: "a.md" }, files)).toBe("# A\n\ntext");
  });

  test("returns at most 2,000 lines and says how to read the next page", async () => {
    const files = new MemoryFiles({ "long.txt": lines(4500) });
    const first = await told("read_file", { path: "long.txt" }, files);
    expect(first.endsWith("line 2000\n[lines 1 to 2000 of 4500; continue with from: 2001]")).toBe(true);
    const last = await told("read_file", { path: "long.txt", from: 4001, lines: 5000 }, files);
    expect(last.startsWith("line 4001\n")).toBe(true);
    expect(last.endsWith("line 4500\n[lines 4001 to 4500 of 4500]")).toBe(true);
  });

  test("gives the lines that were asked for, also to a model that sends null for the rest", async () => {
    const files = new MemoryFiles({ "a.txt": lines(10) });
    expect(await told("read_file", { path: "a.txt", from: 3, lines: 2 }, files)).toBe(
      "line 3\nline 4\n[lines 3 to 4 of 10]",
    );
    expect(await told("read_file", { path: "a.txt", from: 10, lines: null }, files)).toBe(
      "line 10\n[lines 10 to 10 of 10]",
    );
  });

  test("never gives more than 64 KiB, whatever the lines are like", () => {
    const wide = textPage(lines(100, () => "y".repeat(5000)));
    expect(Buffer.byteLength(wide)).toBeLessThan(65 * 1024);
    expect(wide).toContain("[lines 1 to 13 of 100; continue with from: 14]");
    const endless = textPage("🅿️".repeat(60_000));
    expect(Buffer.byteLength(endless)).toBeLessThan(65 * 1024);
    expect(endless.isWellFormed()).toBe(true);
    expect(endless).toContain("[line 1 of 1 is longer than 64 KiB and was cut]");
  });

  test.each([
    ["", 1, ""],
    ["", 2, "[the file has 1 lines; there is no line 2]"],
    ["a\n", 2, "[the file has 1 lines; there is no line 2]"],
    ["a\n\n", 2, "\n[lines 2 to 2 of 2]"],
  ])("of %j from line %i", (text, from, expected) => {
    expect(textPage(text, from)).toBe(expected);
  });
});

describe("list_files and search_files", () => {
  const many = new MemoryFiles(
    Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`f${index}.txt`, "needle"])),
  );

  test("list what matches, and a thousand at most", async () => {
    const files = new MemoryFiles({ "b.ts": "", "a.md": "", "src/c.ts": "" });
    expect(await told("list_files", {}, files)).toBe("a.md\nb.ts\nsrc/c.ts");
    expect(await told("list_files", { glob: "*.ts" }, files)).toBe("b.ts");
    expect(await told("list_files", { glob: "*.py" }, files)).toBe("[no file matches]");
    expect(await told("list_files", {})).toBe("[there are no files yet]");
    expect((await told("list_files", {}, many)).endsWith("\n[and 500 more; narrow the glob]")).toBe(true);
  });

  test("find lines by their pattern, two hundred at most, and none longer than a screen", async () => {
    const files = new MemoryFiles({ "a.md": `# A\nneedle ${"z".repeat(5000)}\n`, "b.md": "hay\n" });
    const found = await told("search_files", { pattern: "/^need/" }, files);
    expect(found.startsWith("a.md:2: needle zzz")).toBe(true);
    expect(found.length).toBeLessThan(400);
    expect(await told("search_files", { pattern: "gold" }, files)).toBe("[no match]");
    expect(await told("search_files", { pattern: "needle" }, many)).toContain("[there may be more;");
  });

  test("an invalid pattern is reported to the model", async () => {
    expect(await told("search_files", { pattern: "/(/" }, new MemoryFiles({ "a.md": "" }))).toContain(
      "Invalid regular expression",
    );
  });
});

describe("write_file", () => {
  const long = lines(100);

  test("of a file that a small edit would serve is refused with the advice to edit", async () => {
    const files = new MemoryFiles({ "a.txt": long });
    const changed = long.replace("line 50\n", "line fifty\n");
    expect(await told("write_file", { path: "a.txt", content: changed }, files)).toBe(
      "Error: a.txt was not written. Edit those lines.",
    );
    expect(files.contents["a.txt"]).toBe(long);
  });

  test.each([
    ["a file that is not there", "b.txt", "new\n"],
    ["something else altogether", "a.txt", lines(100, (line) => `other ${line}`)],
  ])("writes %s", async (_, path, content) => {
    const files = new MemoryFiles({ "a.txt": long });
    expect(await told("write_file", { path, content }, files)).toBe(`wrote ${path}: ${content.length} bytes`);
    expect(files.contents[path]).toBe(content);
  });

  test("outside the project is refused by the files, and told", async () => {
    expect(await told("write_file", { path: "../x", content: "" })).toBe("Error: ../x leaves the project.");
  });
});

describe("delete_file and move_file", () => {
  test("change the files and say so", async () => {
    const files = new MemoryFiles({ "a.txt": "a", "b.txt": "b" });
    expect(await told("delete_file", { path: "a.txt" }, files)).toBe("deleted a.txt");
    expect(await told("move_file", { from: "b.txt", to: "lib/b.txt" }, files)).toBe(
      "moved b.txt to lib/b.txt",
    );
    expect(files.contents).toEqual({ "lib/b.txt": "b" });
  });

  test("report a file that does not exist", async () => {
    expect(await told("delete_file", { path: "a.txt" })).toBe("Error: There is no file a.txt.");
    expect(await told("move_file", { from: "a.txt", to: "b.txt" })).toBe("Error: There is no file a.txt.");
  });
});

test("edit_file records what it saved against writing the file again", async () => {
  const files = new MemoryFiles({ "a.txt": lines(100) });
  const edits = [{ find: "line 50\n", replace: "line fifty\n" }];
  const { run, steps } = await place([call("edit_file", { path: "a.txt", edits }), submit()], { files });
  await run();
  const outcome = JSON.parse(steps.records[1]?.body ?? "") as ToolOutcome;
  expect(outcome).toMatchObject({
    kind: "done",
    output: "edited a.txt: 1 edit made",
    edit: { rewriteBytes: 795, editBytes: 19 },
    changes: [{ path: "a.txt", after: files.tree.get("a.txt") }],
  });
});

describe("run_check", () => {
  const contract: Contract = {
    deliverables: [],
    checks: [{ name: "unit-tests", run: ["npm", "test"], must: true, weight: 1 }],
  };
  const failing: CheckResult = {
    kind: "command",
    name: "unit-tests",
    status: "failed",
    must: true,
    weight: 1,
    message: "ended with 1",
    failures: [
      createFailure({
        category: "TEST_FAILURE",
        message: "adds",
        source: "vitest",
        file: "a.test.ts",
        line: 3,
      }),
    ],
  };

  test("tells what failed and where", async () => {
    const result = await told("run_check", { name: "unit-tests" }, undefined, {
      contract,
      runCheck: () => Promise.resolve(failing),
    });
    expect(result).toBe("unit-tests: failed\nended with 1\n- TEST_FAILURE: adds (a.test.ts:3)");
  });

  test("runs only checks that the contract names", async () => {
    const result = await told("run_check", { name: "unit-test" }, undefined, {
      contract,
      runCheck: () => Promise.reject(new Error("must not run")),
    });
    expect(result).toBe(
      'Error: The contract has no check "unit-test". Did you mean "unit-tests"? Its checks: unit-tests.',
    );
  });

  test("tells no more than a screenful of a check that has much to say", async () => {
    const failures = Array.from({ length: 50 }, () =>
      createFailure({ category: "UNKNOWN", message: "m", source: "s", details: "d".repeat(3000) }),
    );
    const result = await told("run_check", { name: "unit-tests" }, undefined, {
      contract,
      runCheck: () => Promise.resolve({ ...failing, failures }),
    });
    expect(result.length).toBeLessThan(16_100);
  });
});

test("an API key in an error message does not reach the model", async () => {
  class Talkative extends MemoryFiles {
    override async readText(): Promise<string> {
      throw new Error("denied: api_key=abcdefgh12345678");
    }
  }
  expect(await told("read_file", { path: "a" }, new Talkative())).toBe("Error: denied: api_key=[redacted]");
});

test("arguments of a megabyte that do not fit are not quoted in full", async () => {
  const answer = await told("write_file", { path: 5, content: "x".repeat(1024 * 1024) });
  expect(answer.length).toBeLessThan(2100);
  expect(answer).toContain("/path must be a string");
});
