import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadTrustedTeam } from "../../../src/config/team-trust.ts";
import { loadTeam } from "../../../src/team/load-team.ts";
import { TeamPlace } from "../run/place.ts";
import { TestRepository } from "./test-repository.ts";

const teamFile = (folder: string, source: object, personas: object = {}): string => {
  const file = join(folder, "team.json");
  const work = { command: ["sh", "-c", "ls -A > files.txt"], network: false, ...personas };
  writeFileSync(
    file,
    JSON.stringify({
      name: "own",
      source,
      phases: [{ name: "build", personas: ["dev"] }],
      personas: { dev: work },
    }),
  );
  return file;
};

const env = () => ({ XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), "maestro-home-")) });

const repository = (): TestRepository => {
  const made = new TestRepository().write("src/a.ts", "a").write("docs/b.md", "b").write("x.snap", "s");
  made.commit();
  return made;
};

test("a team file names its repository, relative to itself, with what goes in", async () => {
  const own = repository();
  own.git("tag", "start");
  const file = teamFile(own.folder, { git: ".", ref: "HEAD", exclude: ["**/*.snap"] });
  const { team } = await loadTeam(file);
  const maestro = await new TeamPlace().open();
  const session = await maestro.start(team, { brief: "x", teamFile: file });
  expect(await session.result()).toMatchObject({ status: "completed" });
  const { source } = await maestro.show(session.id);
  expect(source).toMatchObject({ git: own.folder, ref: "HEAD", commit: own.git("rev-parse", "HEAD") });
  await maestro.branch(session.id, { branch: "out" });
  expect(own.git("show", "out:files.txt")).toBe("docs\nfiles.txt\nsrc");
});

test("the start overrides the team's repository and ref, and keeps the rest of its source", async () => {
  const [own, other] = [repository(), repository()];
  const file = teamFile(own.folder, { git: ".", include: ["src/**"] });
  const { team } = await loadTeam(file);
  const maestro = await new TeamPlace().open();
  const source = { git: other.folder };
  const session = await maestro.start(team, { brief: "x", teamFile: file, source });
  await session.result();
  expect((await maestro.show(session.id)).source?.git).toBe(other.folder);
  await maestro.branch(session.id, { branch: "out" });
  expect(other.git("show", "out:files.txt")).toBe("files.txt\nsrc");
});

test("the same key resumes its session although the team's repository has changed since", async () => {
  const own = repository();
  const file = teamFile(own.folder, { git: "." });
  const { team } = await loadTeam(file);
  const maestro = await new TeamPlace().open();
  const first = await maestro.start(team, { brief: "x", key: "k", teamFile: file });
  await first.result();
  own.write("src/a.ts", "changed").commit("next");
  expect((await maestro.start(team, { brief: "x", key: "k", teamFile: file })).id).toBe(first.id);
});

test("a source that leads out of the team's folder, secrets for checks and named secrets need trust", async () => {
  const own = repository();
  const demands = async (source: object, persona: object = {}) => {
    const file = teamFile(own.folder, source, persona);
    return loadTrustedTeam(file, env(), "required").then(
      () => "",
      (error: Error) => error.message,
    );
  };
  expect(await demands({ git: "." })).toBe("");
  expect(await demands({ git: "src" })).toBe("");
  expect(await demands({ git: "../other" })).toMatch(/Its sessions read the repository \.\.\/other, outside/);
  expect(await demands({ git: "src/../.." })).toMatch(/outside the folder of the team file/);
  expect(await demands({ git: "/home/me/project" })).toMatch(/read the repository \/home\/me\/project/);
  expect(await demands({ git: "https://example.org/x.git" })).toMatch(/read the repository https:/);
  expect(await demands({ checksOnly: [".env"] })).toMatch(/Its checks read \.env, which may hold secrets/);
  expect(await demands({}, { policy: { read: ["**", "!x"] } })).toBe("");
  expect(await demands({}, { policy: { read: ["**", ".env"] } })).toMatch(
    /dev reads \.env, even if it holds secrets/,
  );
});

test("a source that stays in the team's folder by name and leaves it by a link is refused", async () => {
  const victim = repository();
  const folder = mkdtempSync(join(tmpdir(), "maestro-evil-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "inner"));
  symlinkSync(victim.folder, join(folder, "inner", "link"));
  const file = teamFile(folder, { git: "inner/link" });
  const { team } = await loadTeam(file);
  const maestro = await new TeamPlace().open();
  await expect(maestro.start(team, { brief: "x", teamFile: file })).rejects.toThrow(/is a link out of/);
  expect(await maestro.sessions()).toEqual([]);
});

test("a password in the address of a team file is refused, and the error does not show it", async () => {
  const own = repository();
  for (const git of ["https://me:canary@example.org/x", "https://canary@example.org/x", "ext::canary"]) {
    const file = teamFile(own.folder, { git });
    const error = await loadTeam(file).catch((refused: Error) => refused);
    expect((error as Error).message).toMatch(/source\.git/);
    expect((error as Error).message).not.toMatch(/:canary@|\/canary@/);
  }
});
