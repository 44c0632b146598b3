import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { defineTeam, open, persona, phase } from "../../../src/index.ts";

const files = 5;
const fileBytes = 6 * 1024 * 1024;

const heavy = defineTeam("heavy", {
  phases: [
    phase("make", {
      personas: [
        persona("maker", {
          run: async ({ workspace }) => {
            for (let number = 0; number < files; number += 1)
              await workspace.write(`${number}.txt`, randomBytes(fileBytes / 2).toString("hex"));
            return { summary: "made" };
          },
        }),
      ],
    }),
  ],
});

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "maestro-carry-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

test("a session with more than 32 MiB of files moves to another machine whole", async () => {
  const directory = await newDirectory();
  const file = join(directory, "session.export");
  const here = await open({ stateDir: join(directory, "here"), teams: [heavy] });
  const { id } = await (await here.start(heavy, { brief: "b" })).result();
  const [first] = (await here.show(id)).artifacts;
  const carried = await here.exportCheckpoints(id, file);
  const content = await here.artifact(id, first?.sha256 ?? "");
  await here.close();
  expect(carried.artifacts).toBe(files + 1);

  const there = await open({ stateDir: join(directory, "there"), teams: [heavy] });
  expect(await there.importCheckpoints(file)).toMatchObject({ session: id, artifacts: files + 1 });
  const arrived = await there.artifact(id, first?.sha256 ?? "");
  await there.close();
  expect(arrived.equals(content)).toBe(true);
});

test("importing a file that is not an export is refused with the reason", async () => {
  const directory = await newDirectory();
  const maestro = await open({ stateDir: join(directory, "state") });
  onTestFinished(() => maestro.close());
  const file = join(directory, "other.gz");
  await writeFile(file, await promisify(gzip)('{"kind":"something else"}'));
  await expect(maestro.importCheckpoints(file)).rejects.toThrow(/is not an export of a session/);
});
