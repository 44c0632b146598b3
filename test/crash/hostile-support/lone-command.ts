import { runCommand } from "../../../src/workspace/command.ts";

/** A program that runs one endless command, reports when it has started, and is then killed. */
const { directory, argv, mark } = JSON.parse(process.argv[2] ?? "{}") as {
  directory: string;
  argv: string[];
  mark: string;
};
await runCommand({
  argv,
  directory,
  env: { HOSTILE_MARK: mark },
  timeoutMs: 600_000,
  maxOutputBytes: 1000,
  signal: new AbortController().signal,
  network: false,
  writable: "workspace",
  onOutput: () => process.send?.("begun"),
});
