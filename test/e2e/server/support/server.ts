import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

const command = join(import.meta.dirname, "../../../../bin/maestro.cjs");
export const token = "a-token-that-only-tests-know-0123456789";

export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  readonly dashboard: string;
  readonly child: ChildProcess;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  stderr(): string;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "maestro-e2e-server-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** `maestro serve` as a user runs it, on a free port of loopback. */
export async function startServer(
  stateDir: string,
  args: readonly string[] = [],
  env: Record<string, string | undefined> = { MAESTRO_API_TOKEN: token },
  whenDone: (end: () => Promise<void>) => void = onTestFinished,
): Promise<ServerProcess> {
  const child = spawn(
    process.execPath,
    [command, "serve", "--json", "--port", "0", "--state-dir", stateDir, ...args],
    { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const exited = once(child, "exit").then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
  }));
  whenDone(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await exited;
  });
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([
    once(lines, "line").then(([line]) => line as string),
    exited.then(({ code }) => {
      throw new Error(`maestro serve ended with ${code}: ${stderr}`);
    }),
  ]);
  const { url, dashboard } = JSON.parse(first) as { url: string; dashboard: string };
  const request = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
    });
  const answer = async <T>(response: Response): Promise<T> => {
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    return JSON.parse(text) as T;
  };
  return {
    url,
    port: Number(new URL(url).port),
    dashboard,
    child,
    exited,
    stderr: () => stderr,
    fetch: request,
    get: async <T>(path: string) => answer<T>(await request(path)),
    post: async <T>(path: string, body: unknown = {}) =>
      answer<T>(
        await request(path, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      ),
  };
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
