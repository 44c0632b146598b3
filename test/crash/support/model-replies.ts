import type { ModelTurn } from "../../support/loopback-model-turn.ts";

type Call = readonly [tool: string, input: unknown];

const turn = (text: string, ...calls: readonly Call[]): ModelTurn => ({
  ...(text !== "" && { text }),
  calls: calls.map(([tool, input], index) => ({ id: `id-${index}`, tool, input })),
});

const rows = Array.from({ length: 40 }, (_, row) => `- The shelf keeps book ${row}.`).join("\n");

/** The answers of the models of the team in model-team.yaml, in order. */
const replies: Readonly<Record<string, readonly ModelTurn[]>> = {
  analyst: [
    { ...turn("I look first.", ["list_files", {}]), reasoning: "There may be something already." },
    turn("", ["write_file", { path: "docs/requirements.md", content: `# Requirements\n\n${rows}\n` }]),
    turn("", ["run_check", { name: "has-title" }]),
    turn("", [
      "submit",
      {
        summary: "Forty requirements.",
        decisions: [{ decision: "Markdown", reason: "every tool reads it", rejected: ["a table"] }],
        outputs: { requirements: 40 },
      },
    ]),
  ],
  backend: [
    turn("", ["read_file", { path: "docs/requirements.md", lines: 5 }]),
    turn(
      "Two files at once.",
      ["write_file", { path: "src/shelf.js", content: "const books = [];\nexport const shelf = books;\n" }],
      ["write_file", { path: "src/index.js", content: 'export { shelf } from "./shelf.js";\n' }],
    ),
    turn("", [
      "edit_file",
      { path: "src/shelf.js", edits: [{ find: "const books = [];", replace: 'const books = ["one"];' }] },
    ]),
    turn("", ["run_check", { name: "exports" }]),
    turn("", ["submit", { summary: "The shelf has one book." }]),
  ],
  frontend: [
    turn("", ["search_files", { pattern: "book 3", glob: "docs/**" }]),
    turn("", ["write_file", { path: "web/index.html", content: "<!doctype html>\n<p>books</p>\n" }]),
    turn("", [
      "edit_file",
      { path: "web/index.html", edits: [{ find: "<p>books</p>", replace: "<h1>Books</h1>" }] },
    ]),
    turn("", ["run_check", { name: "is-a-page" }]),
    turn("", ["submit", { summary: "The page has a title." }]),
  ],
  reviewer: [
    turn("", ["list_files", { glob: "**/*" }]),
    turn("", ["read_file", { path: "src/shelf.js" }], ["read_file", { path: "web/index.html" }]),
    turn("", [
      "edit_file",
      { path: "docs/requirements.md", edits: [{ find: "# Requirements", replace: "# Requirements (met)" }] },
    ]),
    turn("", ["write_file", { path: "docs/review.md", content: "All of it is there.\n" }]),
    turn("", ["submit", { summary: "Good.", outputs: { verdict: "good" } }]),
  ],
};

/** How many answers the whole team needs. */
export const answersNeeded = Object.values(replies).reduce((sum, turns) => sum + turns.length, 0);

export function replyOf(persona: string, answersBefore: number): ModelTurn {
  const found = replies[persona]?.[answersBefore];
  if (found === undefined) throw new Error(`${persona} should have ended before answer ${answersBefore + 1}`);
  return found;
}
