import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, chownSync, constants, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** Addresses of the PostgreSQL server of this run, without a schema. Null: this machine has none. */
    postgres: PostgresPlace | null;
  }
}

export interface PostgresPlace {
  readonly address: string;
  readonly folder: string;
  readonly programs: string;
}

/** One server for all tests of a run: real, on a temporary folder, with fsync on. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const programs = findPrograms();
  const account = accountOf();
  if (programs === undefined || account === undefined) {
    process.stdout.write("PostgreSQL is missing: install the package postgresql to run its tests.\n");
    project.provide("postgres", null);
    return async () => {};
  }
  const started = await startPostgres(programs, account);
  project.provide("postgres", started.place);
  return started.stop;
}

interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

export async function startPostgres(programs: string, account: Account, settings: readonly string[] = []) {
  const folder = await mkdtemp(join(tmpdir(), "maestro-postgres-"));
  if (account.uid !== undefined && account.gid !== undefined) chownSync(folder, account.uid, account.gid);
  const data = join(folder, "data");
  const run = { ...account, cwd: folder, encoding: "utf8" } as const;
  execFileSync(
    join(programs, "initdb"),
    [
      "-D",
      data,
      "-U",
      "postgres",
      "-A",
      "trust",
      "-E",
      "UTF8",
      "--no-locale",
      "--no-sync",
      "--no-instructions",
    ],
    run,
  );
  // For tests of passwords: everyone else is trusted on this machine.
  const access = join(data, "pg_hba.conf");
  writeFileSync(access, `host all locked 127.0.0.1/32 scram-sha-256\n${readFileSync(access, "utf8")}`);
  const port = await freePort();
  const options = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    `unix_socket_directories=${folder}`,
    "shared_buffers=64MB",
    "max_connections=200",
    "max_wal_size=512MB",
    ...settings,
  ].flatMap((setting) => ["-c", setting]);
  const server = spawn(join(programs, "postgres"), ["-D", data, ...options], {
    ...run,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  server.stderr.setEncoding("utf8");
  for await (const [text] of lines(server.stderr)) {
    log += text;
    if (log.includes("ready to accept connections")) break;
  }
  if (server.exitCode !== null) throw new Error(`PostgreSQL did not start: ${log}`);
  server.stderr.resume();
  const place = { address: `postgres://postgres@127.0.0.1:${port}/postgres`, folder, programs };
  const stop = async () => {
    const ended = once(server, "exit");
    server.kill("SIGINT");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  return { place, server, stop };
}

async function* lines(stream: NodeJS.ReadableStream): AsyncGenerator<[string]> {
  const queue: (string | undefined)[] = [];
  let wake = () => {};
  stream.on("data", (text: string) => {
    queue.push(text);
    wake();
  });
  stream.on("end", () => {
    queue.push(undefined);
    wake();
  });
  for (;;) {
    while (queue.length > 0) {
      const text = queue.shift();
      if (text === undefined) return;
      yield [text];
    }
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

/** Debian keeps them out of the path. */
export function findPrograms(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = (() => {
    try {
      return readdirSync(debian).sort((one, other) => Number(other) - Number(one));
    } catch {
      return [];
    }
  })();
  const folders = [
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ];
  return folders.find((folder) =>
    ["initdb", "postgres"].every((name) => {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    }),
  );
}

/** PostgreSQL refuses to run as root. Undefined if root has no other account for it. */
export function accountOf(): Account | undefined {
  if (process.getuid?.() !== 0) return {};
  try {
    const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
    return { uid: id("-u"), gid: id("-g") };
  } catch {
    return undefined;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
