import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inShell, maestro, type Place, packageFolder, place } from "./support/packed.ts";

const entry = join(packageFolder, "bin/maestro.cjs");

/** The text before the tab, and the offers. */
const table: Readonly<Record<string, readonly string[]>> = {
  "maestro res": ["resume"],
  "maestro usage --by p": ["persona", "phase"],
  "maestro run --team my": ["my team.yaml"],
  "maestro run --model ": [],
  "maestro show h": ["hello"],
  "maestro show --js": ["--json"],
  "maestro resume --state-dir other e": ["else:where"],
  "maestro checkpoints v": ["verify"],
  "maestro checkpoints h": ["hello"],
  "maestro checkpoints verify h": ["hello"],
  "maestro checkpoints res": ["restore"],
  "maestro checkpoints restore h": ["hello"],
  "maestro resume --tr": ["--trust"],
  "maestro checkpoints import my": ["my team.yaml"],
  "maestro config my": [],
  "maestro breakers ": ["reset"],
  "maestro help chec": ["checkpoints"],
};

/** Two states with a session each, a file with a space in its name, and `maestro` on the path. */
async function prepared(): Promise<Place> {
  const at = place();
  await maestro(at, "init", "--yes", "--name", "team", "--phases", "greeting");
  const run = ["run", "Say hello", "--team", "team.yaml", "--until", "greeting"];
  await maestro(at, ...run, "--key", "hello");
  await maestro(at, ...run, "--key", "else:where", "--state-dir", "other");
  writeFileSync(join(at.folder, "my team.yaml"), "");
  mkdirSync(join(at.folder, "bin"));
  writeFileSync(join(at.folder, "bin/maestro"), `#!/bin/sh\nexec "${process.execPath}" "${entry}" "$@"\n`, {
    mode: 0o755,
  });
  return { ...at, env: { ...at.env, PATH: `${join(at.folder, "bin")}:${process.env["PATH"]}` } };
}

/** From lines of `typed<TAB>offered`. */
function offers(text: string): Record<string, string[]> {
  const offered: Record<string, string[]> = Object.fromEntries(
    Object.keys(table).map((typed) => [typed, []]),
  );
  for (const line of text.split("\n").filter((line) => line !== "")) {
    const [typed = "", word = ""] = line.split("\t");
    offered[typed]?.push(word.replaceAll("\\", "").trim());
  }
  for (const words of Object.values(offered)) words.sort();
  return offered;
}

const has = (shell: string): boolean => spawnSync(shell, ["--version"]).status === 0;
const typedLines = `${Object.keys(table).join("\n")}\n`;

test("bash completes commands, flags, their values, files and sessions", async () => {
  const { folder, env } = await prepared();
  const script = `eval "$(maestro completion bash)"
    while IFS= read -r typed; do
      read -ra COMP_WORDS <<<"$typed"
      case "$typed" in *" ") COMP_WORDS+=("") ;; esac
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)) COMPREPLY=()
      _maestro
      for word in "\${COMPREPLY[@]}"; do printf '%s\\t%s\\n' "$typed" "$word"; done
    done`;
  const out = execFileSync("bash", ["-c", script], { cwd: folder, env, input: typedLines, encoding: "utf8" });
  expect(offers(out)).toEqual(table);
});

const begin = "autoload -Uz compinit && compinit -u -D";
const readings = {
  "evaluated by its start-up file": `${begin}; eval "$(maestro completion zsh)"`,
  "found in a folder of fpath": `fpath=($PWD/functions $fpath); ${begin}`,
};

test.runIf(has("zsh")).each(Object.entries(readings))(
  "zsh completes the same, at a prompt, its script %s",
  async (_, reading) => {
    const { folder, env } = await prepared();
    mkdirSync(join(folder, "functions"));
    writeFileSync(
      join(folder, "functions/_maestro"),
      (await maestro({ folder, env }, "completion", "zsh")).stdout,
    );
    writeFileSync(join(folder, "typed.txt"), typedLines);
    // The line editor completes each line as if tab was pressed; all that is offered passes through compadd.
    writeFileSync(
      join(folder, ".zshrc"),
      `${reading}
compadd() {
  local -a offered
  if (( ! \${@[(I)-[OAD]]} )); then
    builtin compadd -O offered "$@"
    for word in $offered; do printf '%s\\t%s\\n' "$typed" "$word" >&4; done
  fi
  builtin compadd "$@"
}
zle-line-init() {
  while IFS= read -r typed <&3; do
    BUFFER=$typed CURSOR=$#typed
    zle complete-word
  done
  exit
}
zle -N zle-line-init
exec 3<typed.txt 4>offered.txt
`,
    );
    await inShell({ folder, env: { ...env, ZDOTDIR: folder } }, ["zsh", "-i"]);
    expect(offers(readFileSync(join(folder, "offered.txt"), "utf8"))).toEqual(table);
  },
);

test.runIf(has("fish"))("fish completes the same", async () => {
  const { folder, env } = await prepared();
  const script = `maestro completion fish | source
    while read -l typed
      for line in (complete -C "$typed")
        printf '%s\\t%s\\n' "$typed" (string split -- \\t "$line")[1]
      end
    end`;
  const out = execFileSync("fish", ["--no-config", "-c", script], {
    cwd: folder,
    env,
    input: typedLines,
    encoding: "utf8",
  });
  expect(offers(out)).toEqual(table);
});

test("a shell without a completion is refused with the list, and only a typo is taken for another one", async () => {
  const at = place();
  const refusal = async (shell: string) => (await maestro(at, "completion", shell)).stderr;
  expect(await refusal("tcsh")).toContain('There is no completion for "tcsh".');
  expect(await refusal("tcsh")).toContain("One of: bash, zsh, fish.");
  expect(await refusal("tcsh")).not.toContain("Did you mean");
  expect(await refusal("bahs")).toContain('Did you mean "bash"?');
});
