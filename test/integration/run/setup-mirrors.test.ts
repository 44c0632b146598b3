import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";
import { TestRepository } from "../repository/test-repository.ts";
import { TeamPlace } from "./place.ts";

const hasCargo = spawnSync("cargo", ["--version"], { stdio: "ignore" }).status === 0;

/** A registry with one package, as cargo asks one by HTTP. */
async function registry(crate: Buffer) {
  const cksum = createHash("sha256").update(crate).digest("hex");
  const asked: string[] = [];
  const server = createServer((request, answer) => {
    asked.push(request.url ?? "");
    const at = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const entry = { name: "leftish", vers: "1.0.0", deps: [], cksum, features: {}, yanked: false };
    const files: Readonly<Record<string, string | Buffer>> = {
      "/index/config.json": JSON.stringify({ dl: `${at}/crates` }),
      "/index/le/ft/leftish": `${JSON.stringify(entry)}\n`,
      "/crates/leftish/1.0.0/download": crate,
    };
    const found = files[request.url ?? ""];
    answer.writeHead(found === undefined ? 404 : 200).end(found);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as { port: number }).port, cksum, asked };
}

function packed(): Buffer {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, "leftish-1.0.0/src"), { recursive: true });
  writeFileSync(
    join(folder, "leftish-1.0.0/Cargo.toml"),
    '[package]\nname = "leftish"\nversion = "1.0.0"\nedition = "2021"\n',
  );
  writeFileSync(join(folder, "leftish-1.0.0/src/lib.rs"), "pub fn left() -> u8 { 7 }\n");
  execFileSync("tar", ["czf", "leftish.crate", "leftish-1.0.0"], { cwd: folder });
  return readFileSync(join(folder, "leftish.crate"));
}

test.skipIf(!hasCargo)(
  "packages of cargo come from the user's mirror, and an offline check finds them (needs cargo)",
  async () => {
    const { port, cksum, asked } = await registry(packed());
    const cargoHome = temporaryDirectory();
    writeFileSync(
      join(cargoHome, "config.toml"),
      `[source.crates-io]\nreplace-with = "mirror"\n[source.mirror]\nregistry = "sparse+http://127.0.0.1:${port}/index/"\n`,
    );
    vi.stubEnv("CARGO_HOME", cargoHome);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const repository = new TestRepository()
      .write(
        "Cargo.toml",
        '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nleftish = "1.0.0"\n',
      )
      .write(
        "Cargo.lock",
        `version = 3\n\n[[package]]\nname = "leftish"\nversion = "1.0.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "${cksum}"\n\n[[package]]\nname = "sums"\nversion = "0.1.0"\ndependencies = [\n "leftish",\n]\n`,
      )
      .write("src/lib.rs", "#[test]\nfn adds() { assert_eq!(leftish::left() + 1, 8); }\n");
    repository.commit();
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = defineTeam("rust", {
      phases: [
        phase("build", {
          personas: [
            persona("dev", {
              run: place.work("dev"),
              contract: { checks: [{ name: "test", run: ["cargo", "test", "--offline"] }] },
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x", source: { git: repository.folder } });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const view = await maestro.show(session.id);
    expect(view.setup).toMatchObject([{ foundBy: "Cargo.lock", status: "prepared" }]);
    expect(view.phases[0]?.personas[0]?.attempts[0]?.checks[0]?.tests).toMatchObject({ passed: 1 });
    expect(asked).toContain("/crates/leftish/1.0.0/download");
  },
  180_000,
);
