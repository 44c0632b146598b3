import { expect, test } from "vitest";
import { cardOfState } from "../../../src/domain/card-of-state.ts";
import { applyRecorded } from "../../../src/domain/fold.ts";
import type { SessionId } from "../../../src/domain/ids.ts";
import { emptyState } from "../../../src/domain/session-state.ts";
import { quickTeam, start, startServer, until } from "./support.ts";
import { brokenTeam, failingTeam, quickRetries, reviewTeam } from "./teams.ts";

test("a card that was kept row by row says what the whole history says", async () => {
  const server = await startServer({
    teams: [quickTeam, reviewTeam, failingTeam, brokenTeam],
    config: quickRetries,
  });
  server.drive();
  const ends: [Record<string, unknown>, string][] = [
    [{}, "completed"],
    [{ team: "review", budget: { tokens: 9 } }, "parked"],
    [{ team: "failing" }, "parked"],
    [{ team: "broken" }, "failed"],
    [{ until: "first" }, "paused"],
  ];
  for (const [body, status] of ends) {
    const { id } = await start(server, body);
    await until(server, id, status);
    const state = emptyState(id as SessionId);
    for await (const page of server.maestro.rows(id as SessionId))
      for (const row of page) applyRecorded(state, row);
    const [listing] = await server.maestro.listed([id as SessionId]);
    const {
      resumes: _r,
      lastFailure: _f,
      pauseSaid: _p,
      checkpoints: _c,
      phases,
      ...kept
    } = listing?.card ?? {};
    const { resumes, lastFailure, pauseSaid, checkpoints, phases: folded, ...whole } = cardOfState(state);
    expect(kept, `for ${status}`).toEqual(whole);
    expect(phases?.map(({ name, status, gate }) => ({ name, status, gate }))).toEqual(
      folded.map(({ name, status, gate }) => ({ name, status, gate })),
    );
    expect([resumes, lastFailure, pauseSaid, checkpoints]).toHaveLength(4);
  }
});
