import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { calls, ModelHive } from "../../support/model-hive.ts";
import { startServer } from "../server/support.ts";
import { TestRepository } from "./test-repository.ts";

const canary = "canary7f3e9b";

/** Secrets as people commit them by mistake, each with the same canary in it. */
function seeded(): TestRepository {
  const repository = new TestRepository()
    .write("src/a.ts", "export const a = 1;\n")
    .write(".env", `API_KEY=${canary}\n`)
    .write("apps/web/.env.local", `API_KEY=${canary}\n`)
    .write("id_rsa", `-----BEGIN OPENSSH PRIVATE KEY-----\n${canary}\n-----END OPENSSH PRIVATE KEY-----\n`)
    .write("certs/server.key", canary)
    .write("src/config.ts", `export const token = "ghp_${canary}${"a1B2".repeat(8)}";\n`)
    .write("docs/notes.md", `-----BEGIN RSA PRIVATE KEY-----\n${canary}\n-----END RSA PRIVATE KEY-----\n`)
    .write(".env.test", `TEST_TOKEN=${canary}\n`);
  repository.commit();
  return repository;
}

test("secrets of a repository are in no prompt, no row, no artifact, no pack, no answer of the server", async () => {
  const repository = seeded();
  // The model tries what it can to see them.
  const script = [
    calls("list_files", {}),
    calls("search_files", { pattern: "canary" }),
    calls("read_file", { path: ".env" }),
    calls("read_file", { path: "src/config.ts" }),
    calls("move_file", { from: "id_rsa", to: "src/key.txt" }),
    calls("edit_file", { path: "src/a.ts", edits: [{ find: "1", replace: "2" }] }),
    calls("run_check", { name: "prints" }),
  ];
  const hive = await ModelHive.open(
    ({ answersBefore }) => script[answersBefore] ?? calls("submit", { summary: "done" }),
  );
  const team = defineTeam("curious", {
    model: "openai-compatible/llama",
    source: { checksOnly: [".env.test"] },
    phases: [
      phase("work", {
        personas: [
          persona("dev", {
            instructions: "Look around.",
            contract: {
              checks: [
                {
                  name: "prints",
                  must: false,
                  run: ["sh", "-c", "cat .env* id_rsa certs/* src/* docs/*; exit 1"],
                },
              ],
            },
          }),
        ],
      }),
    ],
  });
  const { result } = await hive.run(team, { source: { git: repository.folder } });
  expect(result).toMatchObject({ status: "completed" });
  const prompts = hive.models.server.requests.map(({ text }) => text).join("\n");
  expect(prompts).toContain("src/a.ts");
  expect(prompts, "the check printed the file that only it gets").toContain(
    "[redacted]\\nexport const a = 2;",
  );
  expect(prompts).not.toContain(canary);

  await hive.maestro.close();
  const server = await startServer({ stateDir: hive.stateDir, teams: [] });
  const base = `/v1/sessions/${result.id}`;
  const views = ["", "/checkpoints", "/artifacts", "/diff", "/archive?format=tar.gz", "/archive?format=zip"];
  for (const view of views) {
    const answer = await server.request(base + view);
    expect(answer.status, view).toBe(200);
    const body = Buffer.from(await answer.arrayBuffer());
    const unpacked = view.endsWith("tar.gz") ? gunzipSync(body) : body;
    expect(unpacked.includes(canary), view).toBe(false);
  }
  expect(await (await server.request(base)).text()).toContain("its name says that it holds secrets");
  const files = filesBelow(hive.stateDir);
  expect(files.some((file) => file.endsWith(".pack"))).toBe(true);
  expect(files.some((file) => file.endsWith("maestro.db"))).toBe(true);
  expect(files.filter((file) => readFileSync(file).includes(canary))).toEqual([]);
});

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
