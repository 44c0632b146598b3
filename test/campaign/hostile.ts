import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { defineTeam, open, persona, phase } from "../../src/index.ts";
import { ThreePhases } from "../crash/damage-support/three-phases.ts";
import { sendRaw, statusOf } from "../e2e/server/support/raw.ts";
import { startServer, token } from "../e2e/server/support/server.ts";
import { randomJson, seededRandom } from "../unit/domain/seeded-random.ts";
import { orElse, type Trial } from "./campaign.ts";

import { attackWithCommands } from "./hostile-commands.ts";

import { attackWithFiles } from "./hostile-files.ts";
import { attackApp } from "./hostile-http.ts";

import { attackWithImports } from "./hostile-imports.ts";
import { attackWithTeams } from "./hostile-teams.ts";

import { inFolder } from "./in-folder.ts";

type Random = () => number;

const pick = <T>(random: Random, values: readonly T[]): T =>
  values[Math.floor(random() * values.length)] as T;
const join5 = (random: Random, parts: readonly string[]): string =>
  Array.from({ length: 1 + Math.floor(random() * 5) }, () => pick(random, parts)).join("");

/** Parts of names that have escaped from some program before. */
const pathParts = [
  "..",
  "../",
  "/",
  "//",
  "./",
  ".git/",
  ".GIT/hooks/",
  "a",
  "a/",
  "\\",
  "..\\",
  "\0",
  "\n",
  "~",
  "$HOME",
  "%2e%2e/",
  "\u202e",
  "\u2024\u2024/",
  "cafe\u0301",
  "CON",
  " ",
  "x".repeat(300),
  "/etc/passwd",
  "__proto__",
  "' OR 1=1 --",
];

/** Every file below a folder, with its content. */
function contents(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name))
      .map((path) => [path, readFileSync(path, "latin1")]),
  );
}

/** Ids and keys that look like paths or SQL find no session, and change no file outside of the state directory. */
export function attackWithIds(seed: number, attacks = 20): Promise<number> {
  const random = seededRandom(seed);
  return inFolder(async (folder) => {
    const session = await ThreePhases.pausedInTest(join(folder, "state"));
    mkdirSync(join(folder, "bait"));
    writeFileSync(
      join(folder, "bait", "checkpoint_init.json"),
      readFileSync(session.file("checkpoint_init.json")),
    );
    const outside = () => contents(join(folder, "bait"));
    const before = outside();
    await session.with(async (maestro) => {
      for (let attack = 0; attack < attacks; attack += 1) {
        const id = join5(random, [...pathParts, "bait", session.id]);
        if (id === session.id) continue;
        const ask = pick(random, [
          () => maestro.resume(id),
          () => maestro.show(id),
          () => maestro.checkpoints(id),
          () => maestro.cancel(id),
          () => maestro.exportCheckpoints(id, join(folder, "out")),
        ]);
        const error: unknown = await ask().then(
          () => "accepted",
          (reason: Error) => reason,
        );
        orElse("let in", () =>
          expect(["SessionNotFound", "InputInvalid"], JSON.stringify(id)).toContain((error as Error).name),
        );
      }
    });
    orElse("let in", () => expect(outside()).toEqual(before));
    return attacks;
  });
}

/** A persona writes and removes hostile paths, and the files are delivered: nothing outside of the folder changes. */
export function attackWithPaths(seed: number, attacks = 30): Promise<number> {
  const random = seededRandom(seed);
  return inFolder(async (folder) => {
    const team = defineTeam("hostile", {
      phases: [
        phase("only", {
          personas: [
            persona("attacker", {
              run: async ({ workspace }) => {
                await workspace.write("good.txt", "good");
                for (let attack = 0; attack < attacks; attack += 1) {
                  const path = join5(random, pathParts);
                  const act = random() < 0.8 ? workspace.write(path, "evil") : workspace.remove(path);
                  await act.catch(() => undefined);
                }
                return { summary: "done" };
              },
            }),
          ],
        }),
      ],
    });
    mkdirSync(join(folder, "beside"));
    writeFileSync(join(folder, "beside", "mine.txt"), "mine");
    const maestro = await open({ stateDir: join(folder, "state"), teams: [team] });
    try {
      const session = await maestro.start(team, { brief: "Attack." });
      expect(await session.result()).toMatchObject({ status: "completed" });
      await maestro.writeFiles(session.id, join(folder, "out"));
    } finally {
      await maestro.close();
    }
    orElse("let in", () => {
      expect(readdirSync(folder).sort()).toEqual(["beside", "out", "state"]);
      expect(contents(join(folder, "beside"))).toEqual({ [join(folder, "beside", "mine.txt")]: "mine" });
    });
    expect(readFileSync(join(folder, "out", "good.txt"), "utf8")).toBe("good");
    const names = readdirSync(join(folder, "out"), { recursive: true, encoding: "utf8" });
    orElse("let in", () => expect(names.filter((name) => /(^|\/)\.git(\/|$)/i.test(name))).toEqual([]));
    return attacks;
  });
}

/** Requests with a wrong token, and bytes that are no request: the server refuses them and continues to work. */
export function attackServer(seed: number, attacks = 25): Promise<number> {
  const random = seededRandom(seed);
  return inFolder(async (folder) => {
    const server = await startServer(join(folder, "state"));
    try {
      for (let attack = 0; attack < attacks; attack += 1) {
        const request = hostileRequest(random, server.port);
        const answer = await sendRaw(server.port, request);
        const status = statusOf(answer);
        orElse("let in", () =>
          expect([0, 400, 401, 403, 404, 405, 408, 413, 414, 415, 426, 431, 501], request).toContain(status),
        );
        expect(answer, request).not.toMatch(/ at .*\.(?:js|ts):\d+/);
        expect((await server.fetch("/v1/status")).status, `after ${request}`).toBe(200);
      }
      const { total } = await server.get<{ total: number }>("/v1/sessions");
      orElse("let in", () => expect(total, "sessions that an attack made").toBe(0));
      return attacks;
    } finally {
      server.child.kill("SIGKILL");
      await server.exited;
    }
  });
}

function hostileRequest(random: Random, port: number): string {
  if (random() < 0.2) return Array.from({ length: 200 }, () => String.fromCharCode(random() * 256)).join("");
  const path = `/v1/${pick(random, ["sessions", "sessions/x/cancel", "usage", "breakers", encodeURIComponent(join5(random, pathParts))])}`;
  const wrong = [
    "",
    "authorization: Bearer x",
    `authorization: Basic ${token}`,
    `authorization: Bearer ${token.slice(0, -1)}`,
    `authorization: Bearer ${token} `.trimEnd().concat("x"),
    `cookie: maestro=${token}`,
  ];
  const hosts = [
    `host: 127.0.0.1:${port}`,
    "host: evil.example",
    `host: 127.0.0.1:${port}\r\nhost: evil.example`,
  ];
  const body = JSON.stringify(randomJson(random));
  const lines = [
    `${pick(random, ["POST", "GET", "DELETE", "PATCH", "PUT"])} ${path} HTTP/1.1`,
    pick(random, hosts),
    pick(random, wrong),
    "content-type: application/json",
    `content-length: ${random() < 0.8 ? Buffer.byteLength(body) : Math.floor(random() * 1e9)}`,
    "connection: close",
  ];
  return `${lines.filter((line) => line !== "").join("\r\n")}\r\n\r\n${body}`;
}

export const hostileTrials: readonly Trial[] = [
  { title: "ids", run: attackWithIds, tries: "ids" },
  { title: "paths of a workspace", run: attackWithPaths, tries: "paths" },
  { title: "imports", run: (seed) => attackWithImports(seed, 100), tries: "imports" },
  { title: "team files and configurations", run: attackWithFiles, tries: "team and configuration files" },
  { title: "commands of a persona", run: (seed) => attackWithCommands(seed), tries: "commands" },
  { title: "teams that run", run: attackWithTeams, tries: "teams" },
  { title: "requests", run: attackServer, tries: "requests" },
  { title: "requests to the app", run: attackApp, tries: "requests" },
];
