// Draws docs/images/demo.svg from a real run of `maestro demo`: what a newcomer sees, as a picture for the README.
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stateDir = mkdtempSync(join(tmpdir(), "maestro-picture-"));
const command = [join(root, "bin", "maestro.cjs"), "demo", "--state-dir", stateDir];
const transcript = join(stateDir, "transcript");
// Progress and result in one file, in the order they were said.
const file = openSync(transcript, "w");
const { status } = spawnSync(process.execPath, command, { stdio: ["ignore", file, file] });
closeSync(file);
const told = readFileSync(transcript, "utf8").trimEnd().split("\n");
if (status !== 0) throw new Error(`the demo ended with ${status}:\n${told.join("\n")}`);
rmSync(stateDir, { recursive: true, force: true });

const width = 104;
const most = 54;
/** The story is in its end: the kill, the new process, what was kept. */
const lines = ["$ npx maestro demo", ...(told.length > most ? ["…", ...told.slice(-most)] : told)].map(
  (line) => withoutPlaces(line).slice(0, width),
);
const lineHeight = 18;
const height = lines.length * lineHeight + 56;

writeFileSync(
  join(root, "docs", "images", "demo.svg"),
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width * 8 + 40}" height="${height}" role="img" aria-label="maestro demo: a team is killed and goes on">
<rect width="100%" height="100%" rx="8" fill="#181816"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="#EEEDE8">
${lines.map((line, index) => `<text x="20" y="${36 + index * lineHeight}" fill="${colorOf(line)}">${escape(line)}</text>`).join("\n")}
</g>
</svg>
`,
);

/** Paths of the machine it was drawn on say nothing to others. */
function withoutPlaces(line) {
  return line.replaceAll(stateDir, "~/.maestro").replaceAll(/\/tmp\/maestro-demo-\w+/g, "/tmp/maestro-demo");
}

function colorOf(line) {
  if (line.startsWith("$")) return "#74B4F8";
  if (line.startsWith("***")) return "#FF8D84";
  if (/^(Done|Completed)/.test(line)) return "#62C284";
  return /^\S/.test(line) && !line.includes(":") ? "#EEEDE8" : "#BBB8AF";
}

function escape(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(" ", "\u00A0");
}
