import { expect, test } from "vitest";
import type { SessionId } from "../../../src/domain/ids.ts";
import { reduceCard } from "../../../src/journal/reduce.ts";
import type { SessionCard } from "../../../src/journal/session-card.ts";
import { quickTeam, start, startServer, until } from "./support.ts";
import { brokenTeam, failingTeam, quickRetries, reviewTeam } from "./teams.ts";

test("a stored list row is what all rows reduce to, and agrees with the session's view", async () => {
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
    let reduced: SessionCard | undefined;
    for await (const page of server.maestro.rows(id as SessionId))
      for (const row of page) reduced = reduceCard(reduced, row);
    const [listing] = await server.maestro.listed([id as SessionId]);
    expect(listing?.card, `for ${status}`).toEqual(reduced);
    const view = await server.maestro.show(id);
    expect(listing).toMatchObject({ status: view.status, reason: view.reason ?? undefined });
    const listed = listing?.card.phases.map(({ name, status: of }) => ({ name, status: of }));
    expect(listed).toEqual(view.phases.map(({ name, status: of }) => ({ name, status: of })));
  }
});
