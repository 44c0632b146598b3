import { join } from "node:path";
import { expect, test } from "vitest";
import { open } from "../../../src/index.ts";
import type { SessionPageView } from "../../../src/server/schemas/session.ts";
import { newFolder, problemOf, quickTeam, startServer } from "./support.ts";

test("an imported session that no person trusted is shown and not resumed, with the command to type", async () => {
  const folder = await newFolder();
  const file = join(folder, "quick.maestro");
  const source = await open({ stateDir: join(folder, "source"), teams: [quickTeam] });
  const { id } = await source.create(quickTeam, { brief: "b", key: "k" });
  await source.exportCheckpoints(id, file);
  await source.close();
  const stateDir = join(folder, "target");
  const target = await open({ stateDir });
  await target.importCheckpoints(file);
  await target.close();
  const server = await startServer({ stateDir });
  server.drive();
  const { status, explanation } = await server.get<SessionPageView>(`/v1/sessions/${id}`);
  expect(status).toBe("paused");
  expect(explanation.why).toContain("no person has trusted it");
  for (const act of ["resume", "fork"]) {
    const body = act === "fork" ? { at: quickTeam.phases[0]?.name } : {};
    const problem = await problemOf(await server.post(`/v1/sessions/${id}/${act}`, body));
    expect(problem, act).toMatchObject({ status: 403, code: "NOT_TRUSTED" });
    expect(JSON.stringify(problem)).toContain("--trust");
  }
  expect((await server.get<SessionPageView>(`/v1/sessions/${id}`)).status).toBe("paused");
});
