import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { loadConfig } from "../../../src/config/load.ts";
import { adviceText } from "../../../src/domain/advice.ts";
import { defineTeam, type PersonaContext, persona, phase, type Team } from "../../../src/index.ts";
import type { Problem } from "../../../src/server/problem.ts";
import type { SessionPageView } from "../../../src/server/schemas/session.ts";
import { type RunningServer, type ServeOptions, serve } from "../../../src/server/serve.ts";

export const token = "a-token-that-only-tests-know-0123456789";
export const base = "http://127.0.0.1:4160";

/** Does nothing but say so. */
export const quickTeam = defineTeam("quick", {
  phases: [
    phase("first", { personas: [persona("worker", { run: async () => ({ summary: "done" }) })] }),
    phase("second", { personas: [persona("worker", { run: async () => ({ summary: "done too" }) })] }),
  ],
});

/** A team whose only persona does what the test says. */
export function teamOf(name: string, run: (context: PersonaContext) => Promise<{ summary: string }>): Team {
  return defineTeam(name, { phases: [phase("only", { personas: [persona("worker", { run })] })] });
}

export interface TestServer extends RunningServer {
  readonly stateDir: string;
  readonly notices: string[];
  request(path: string, init?: RequestInit): Promise<Response>;
  get<T>(path: string): Promise<T>;
  post(path: string, body?: unknown, method?: string): Promise<Response>;
}

interface Options extends Partial<Omit<ServeOptions, "loaded" | "teams">> {
  readonly teams?: readonly Team[];
  readonly config?: Parameters<typeof loadConfig>[0] extends infer O
    ? O extends { overrides?: infer C }
      ? C
      : never
    : never;
  readonly stateDir?: string;
  /** Sees each answer before the test. */
  readonly onAnswer?: (method: string, path: string, response: Response) => Promise<void>;
}

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "maestro-server-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  return folder;
}

/** The server as a value, without a socket. */
export async function startServer(options: Options = {}): Promise<TestServer> {
  const { teams = [quickTeam], config = {}, onAnswer, ...rest } = options;
  const stateDir = options.stateDir ?? (await newFolder());
  const notices: string[] = [];
  const overrides = { server: { apiToken: token }, ...config, stateDir };
  const loaded = await loadConfig({ cwd: stateDir, env: {}, overrides });
  const server = await serve({
    loaded,
    teams: teams.map((team) => ({ team, file: undefined, builtIn: false })),
    version: "0.0.0-test",
    report: (notice, actions = []) => notices.push(`${notice} ${adviceText(actions)}`.trim()),
    ...rest,
  });
  onTestFinished(() => server.stop());
  const request = async (path: string, init: RequestInit = {}) => {
    const response = await server.app.request(`${base}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
    });
    await onAnswer?.(init.method ?? "GET", path, response);
    return response;
  };
  return {
    ...server,
    stateDir,
    notices,
    request,
    get: async <T>(path: string) => {
      const response = await request(path);
      const text = await response.text();
      expect(response.status, `for ${text}`).toBe(200);
      return JSON.parse(text) as T;
    },
    post: (path, body = {}, method = "POST") =>
      request(path, {
        method,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
  };
}

export async function problemOf(response: Response): Promise<Problem> {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  return (await response.json()) as Problem;
}

/** Starts a session and gives its view. */
export async function start(
  server: TestServer,
  body: Record<string, unknown> = {},
): Promise<SessionPageView> {
  const response = await server.post("/v1/sessions", { team: "quick", brief: "something", ...body });
  const text = await response.text();
  expect(response.status, `for ${text}`).toBe(201);
  return JSON.parse(text) as SessionPageView;
}

export async function until(server: TestServer, id: string, status: string): Promise<SessionPageView> {
  return vi.waitFor(
    async () => {
      const view = await server.get<SessionPageView>(`/v1/sessions/${id}`);
      expect(view.status).toBe(status);
      return view;
    },
    { timeout: 60_000, interval: 20 },
  );
}
