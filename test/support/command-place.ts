import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { changesBetween } from "../../src/domain/tree.ts";
import type {
  CommandEnding,
  CommandFolder,
  CommandPlace,
  CommandRequest,
} from "../../src/personas/model/ports.ts";
import { MemoryFiles } from "./memory-files.ts";

/** Files in memory, copied to a real folder and back. */
export function commandPlace(files: MemoryFiles, left: Partial<CommandFolder> = {}): CommandPlace {
  return {
    inFolder: async (work) => {
      const directory = await mkdtemp(join(tmpdir(), "maestro-command-"));
      try {
        for (const [path, content] of Object.entries(files.contents)) {
          await mkdir(dirname(join(directory, path)), { recursive: true });
          await writeFile(join(directory, path), content);
        }
        const result = await work({
          directory,
          session: null,
          note: async () => {},
          restart: async () => {},
          ...left,
        });
        const found = new MemoryFiles({}, files.stored);
        const entries = await readdir(directory, { recursive: true, withFileTypes: true });
        for (const entry of entries.filter((found) => found.isFile())) {
          const path = join(entry.parentPath, entry.name);
          await found.write(relative(directory, path), await readFile(path, "utf8"));
        }
        const changes = changesBetween(files.tree, found.tree);
        await found.flush(changes);
        return { result, changes, refused: [] };
      } finally {
        await rm(directory, { recursive: true });
      }
    },
  };
}

/** A real process, without a sandbox. */
export function runProcess(command: CommandRequest): Promise<CommandEnding> {
  const { argv, directory, env, stdin, timeoutMs, signal, onOutput } = command;
  const [program = "", ...args] = argv;
  return new Promise((resolve) => {
    const printed = { stdout: "", stderr: "" };
    const child = spawn(program, args, { cwd: directory, env: { ...process.env, ...env }, signal });
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      resolve({ kind: "timeout" });
    }, timeoutMs);
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => {
        printed[name] += text;
        onOutput(text, name);
      });
    }
    child.on("error", (error) => {
      clearTimeout(timer);
      resolve(signal.aborted ? { kind: "aborted" } : { kind: "not-started", reason: error.message });
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ kind: "exited", code: code ?? 1, ...printed });
    });
    child.stdin.on("error", () => {});
    child.stdin.end(stdin);
  });
}
