import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { outputOf } from "../campaign/models.ts";
import { startServer } from "../e2e/server/support/server.ts";
import { expectPaidOnce } from "./support/billing.ts";
import { ModelPlace } from "./support/model-place.ts";
import { until } from "./support/until.ts";

const team = join(import.meta.dirname, "support/model-team.yaml");

interface View {
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly attempts: readonly { readonly attempt: number }[];
  readonly restarts: readonly unknown[];
}

it("a server that cannot call a killed session's model leaves it to a process that can", async () => {
  const place = await ModelPlace.open("openai-compatible/llama-3.3-70b");
  onTestFinished(() => place.remove());
  const driver = place.drive();
  // The first persona works alone: its first two answers are on record when it asks for the third.
  place.models.onAnswer = ({ number }) => {
    if (number === 3) driver.signal("SIGKILL");
  };
  await driver.ended;
  const recorded = place.models.log.slice(0, 2).map(({ hash }) => hash);

  const server = await startServer(place.stateDir, ["--team", team]);
  const view = () => server.get<View>("/v1/sessions/shelf");
  await until("the session is not taken", async () => (await view()).error !== null);
  expect(await view()).toMatchObject({
    status: "running",
    error: { message: expect.stringContaining("OPENAI_COMPATIBLE_BASE_URL is not set") as string },
    restarts: [],
  });

  const { ending } = await outputOf(place.drive());
  expect(ending).toMatchObject({ status: "completed", ticket: null });
  expectPaidOnce(await place.ledger(), place.models.log);
  const asked = place.models.log.map(({ hash }) => hash);
  for (const hash of recorded) expect(asked.filter((one) => one === hash)).toHaveLength(1);
  const after = await view();
  expect(after).toMatchObject({ status: "completed", error: null });
  expect(server.stderr().match(/could not be resumed/g), "said once").toHaveLength(1);
});
