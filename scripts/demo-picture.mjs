// Draws docs/images/demo.svg: the final screen of a real run of `maestro demo` in a pseudo-terminal.
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { TerminalScreen } from "./terminal-screen.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const columns = 96;
const size = { character: 7.83, line: 18, edge: 20 };
const colors = { 31: "#FF8D84", 32: "#62C284", 33: "#E3B341", 34: "#74B4F8", 36: "#6CC7C4" };
const [text, faint] = ["#EEEDE8", "#98958C"];

const screen = new TerminalScreen();
screen.write("$ npx maestro-hive demo\r\n");
screen.write(recorded());
const rows = screen.rows.slice(0, screen.rows.findLastIndex((row) => row.length > 0) + 1);
const shown = rows.map((row) => row.map(({ character }) => character).join("")).join("\n");
const [folder] = /\/tmp\/maestro-demo-\w+/.exec(shown) ?? [];
if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
if (!shown.includes("Try next:")) throw new Error(`The demo did not reach its summary:\n${shown}`);

writeFileSync(
  join(root, "docs", "images", "demo.svg"),
  `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(columns * size.character) + 2 * size.edge}" height="${rows.length * size.line + 2 * size.edge}" role="img" aria-label="maestro demo: a team is killed and resumes">
<rect width="100%" height="100%" rx="8" fill="#181816"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="${text}">
${rows.flatMap(draw).join("\n")}
</g>
</svg>
`,
);

/** Everything that the demo wrote to its terminal. */
function recorded() {
  const command = `stty columns ${columns} rows 50 && exec "$0" "$@"`;
  const argv = ["sh", "-c", command, process.execPath, join(root, "bin", "maestro.cjs"), "demo"];
  const python = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) != 0)";
  return execFileSync("python3", ["-c", python, ...argv], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    // npx sets npm_command; the printed commands then start with npx, which a new user can paste.
    env: { PATH: process.env.PATH, TMPDIR: "/tmp", TERM: "xterm-256color", npm_command: "exec" },
  });
}

/** Positions each piece: in some fonts the symbols for done and running are wider than a letter. */
function draw(row, index) {
  const y = size.edge + 14 + index * size.line;
  const pieces = [];
  for (const [column, cell] of row.entries()) {
    const last = pieces.at(-1);
    const isSign = /[^\u0020-\u007E·…]/u.test(cell.character);
    if (last !== undefined && !isSign && !last.isSign && styleOf(cell) === last.style)
      last.text += cell.character;
    else pieces.push({ column, style: styleOf(cell), text: cell.character, isSign });
  }
  return pieces
    .filter((piece) => piece.text.trim() !== "")
    .map(({ column, style, text }) => {
      const x = (size.edge + column * size.character).toFixed(1);
      return `<text x="${x}" y="${y}"${style}>${escape(text.trimEnd())}</text>`;
    });
}

function styleOf({ bold, dim, color }) {
  const fill = colors[color] ?? (dim ? faint : undefined);
  return `${fill === undefined ? "" : ` fill="${fill}"`}${bold ? ' font-weight="bold"' : ""}`;
}

function escape(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(" ", "\u00A0");
}
