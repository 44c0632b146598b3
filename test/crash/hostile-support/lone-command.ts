import { runCommand } from "../../../src/workspace/command.ts";

/** A program: runs one command that never ends, says so when it has begun, and is to be killed then. */
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
