import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { userRegistries } from "../../../src/run/setup/user-registries.ts";
import { temporaryDirectory } from "../workspace/temporary-directory.ts";

function home(files: Readonly<Record<string, string>>): string {
  const folder = temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

test("replaced sources of cargo are passed on without credentials, and nothing else of its settings", async () => {
  const config = `
[registry]
token = "cargo-canary"
[source.crates-io]
replace-with = "mirror"   # of the company
[source.mirror]
registry = "sparse+https://user:secret-canary@crates.corp.example/index/"
[source.copied]
directory = "/home/user/vendor"
[source.other]
registry = "https://other.example/index"
replace-with = "copied"
[build]
registry = "https://builds.example/"
[target.x86_64-unknown-linux-gnu]
linker = "/home/user/linker"
`;
  const { files, hosts } = await userRegistries({}, home({ ".cargo/config.toml": config }));
  expect(hosts).toEqual(["crates.corp.example", "other.example"]);
  expect(files.get(".cargo/config.toml")).toBe(
    [
      '[source."crates-io"]',
      'replace-with = "mirror"',
      '[source."mirror"]',
      'registry = "sparse+https://crates.corp.example/index/"',
      '[source."other"]',
      'registry = "https://other.example/index"',
      "",
    ].join("\n"),
  );
});

test("mirrors of Maven are passed on, without passwords of servers", async () => {
  const settings = `<settings>
  <servers><server><id>corp</id><password>maven-canary</password></server></servers>
  <mirrors>
    <!-- <mirror><id>old</id><mirrorOf>*</mirrorOf><url>https://old.example/</url></mirror> -->
    <mirror>
      <id>corp</id>
      <mirrorOf>central</mirrorOf>
      <url>https://user:secret-canary@maven.corp.example/repo</url>
    </mirror>
    <mirror><id>other</id><mirrorOf>*</mirrorOf><url>\${env.MIRROR}</url></mirror>
  </mirrors>
</settings>`;
  const { files, hosts } = await userRegistries({}, home({ ".m2/settings.xml": settings }));
  expect(hosts).toEqual(["maven.corp.example"]);
  expect([...files]).toEqual([
    [
      ".m2/settings.xml",
      "<settings><mirrors><mirror><id>corp</id><mirrorOf>central</mirrorOf><url>https://maven.corp.example/repo</url></mirror></mirrors></settings>\n",
    ],
  ]);
});

test("registries of npm are passed on, and a home without settings gives none", async () => {
  const npmrc = "registry=https://npm.corp.example/\n//npm.corp.example/:_authToken=npm-canary\n";
  expect([...(await userRegistries({}, home({ ".npmrc": npmrc }))).files]).toEqual([
    [".npmrc", "registry=https://npm.corp.example/\n"],
  ]);
  expect(await userRegistries({}, home({}))).toEqual({ env: {}, files: new Map(), hosts: [] });
});
