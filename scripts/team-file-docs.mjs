// docs/team-file.md, made from the keys of the team file.
import { Document, visit } from "yaml";
import { nameRule } from "../src/domain/names.ts";
import {
  commandKeys,
  guidanceKeys,
  personaKeys,
  personaSection,
  teamFileSections,
  toolKeys,
  workKeys,
} from "../src/team/definition/team-keys.ts";

const example = `name: product
model: anthropic/claude-sonnet-4-5
phases:
  - name: requirements
    gate: 0.75
    personas: [analyst]
  - name: design
    personas: [architect, skeptic]
personas:
  analyst:
    instructions: Turn the brief into testable requirements.
    maxAttempts: 3
    budget: { tokens: 40000, usd: 0.50 }
    contract:
      deliverables:
        - name: requirements
          files: ["docs/requirements.md"]
      checks:
        - name: has-title
          run: ["grep", "-q", "^# ", "docs/requirements.md"]
  architect:
    instructions: Propose one design; record each decision.
    consumes: [analyst]
  skeptic:
    instructions: Find what breaks the design.
    command: ["claude", "-p"]
`;

export function teamFilePage() {
  return [
    "<!-- Made by scripts/team-file-docs.mjs from src/team/definition/team-keys.ts; change that file, then npm run docs. -->",
    "",
    "# The team file",
    "",
    "A team is written in YAML, JSON or code. This page lists every key of YAML and JSON; `defineTeam`, `phase` and `persona` take the same keys. [teams.md](teams.md) says how they work together.",
    "",
    "`team.schema.json` in the package describes the same keys for editors. Where the package is installed in the project, `maestro init` writes a file that points to it. In YAML, the first line does that, and in JSON the key `$schema`:",
    "",
    "```yaml",
    "# yaml-language-server: $schema=./node_modules/maestro-hive/team.schema.json",
    "```",
    "",
    "A wrong key or value is an error before anything runs. It names the file, the line, the wrong key and the closest right one.",
    "",
    "```yaml",
    example.trimEnd(),
    "```",
    "",
    nameRule,
    "",
    ...teamFileSections.flatMap(sectionPart),
  ].join("\n");
}

function sectionPart(section) {
  const head = [`## ${title(section.name)}`, "", section.sentence, ""];
  if (section !== personaSection) return [...head, ...keyTable(section.keys)];
  const { instructions, command } = section.keys;
  return [
    ...head,
    "Every persona:",
    "",
    ...keyTable({ instructions, ...personaKeys }),
    "A persona whose work is done by a model:",
    "",
    ...keyTable(workKeys.model),
    "A persona that has tools, which is a model, or in code a function:",
    "",
    ...keyTable(toolKeys),
    "A persona that is a model or a command-line agent:",
    "",
    ...keyTable(guidanceKeys),
    "A persona whose work is done by a command-line agent:",
    "",
    ...keyTable({ command, ...commandKeys }),
  ];
}

const title = (name) => name[0].toUpperCase() + name.slice(1);

function keyTable(keys) {
  const rows = Object.entries(keys).map(([name, key]) => {
    const [type] = key.kind.allowed.split(". ");
    const cells = [`\`${name}\``, type, absence(key), key.sentence, `\`${yaml(name, key.example)}\``];
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  });
  return ["| key | type | default | meaning | example |", "|---|---|---|---|---|", ...rows, ""];
}

function absence({ absence, otherwise }) {
  if (absence.kind === "error") return "required";
  if (otherwise !== undefined) return otherwise;
  return absence.kind === "default" ? `\`${JSON.stringify(absence.value)}\`` : "";
}

/** One line of YAML in flow style. */
function yaml(name, value) {
  const document = new Document({ [name]: value });
  visit(document, { Collection: (key, node) => void (node.flow = key !== null) });
  return document.toString({ lineWidth: 0 }).trim();
}
