import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { json, maestro, place } from "./support/packed.ts";
import { saidSchema, showSchema } from "./support/schemas.ts";

const team = join(import.meta.dirname, "support/paying-team.ts");

interface Shown {
  readonly status: string;
  readonly reason: string | null;
  readonly waiting: readonly { readonly seq: number; readonly kind: string; readonly persona: string }[];
  readonly effects: readonly { readonly seq: number; readonly name: string; readonly state: string }[];
  readonly phases: readonly { readonly personas: readonly { readonly summary: string }[] }[];
}

test("a killed payment is not repeated: resume parks, settle says how it ended, and a fork repeats it only when asked to", async () => {
  const at = place();
  const side = join(at.folder, "side");
  const charged = () => readFileSync(side, "utf8").split("\n").length - 1;
  await maestro(at, "run", side, "--team", team, "--key", "k");
  expect(charged()).toBe(1);
  const parked = await maestro(at, "resume", "k");
  expect(parked.code, parked.stderr).toBe(4);
  expect(parked.stderr).toContain('The outcome of the effect "charge" of payer in phase pay is unknown.');
  expect(parked.stderr).toMatch(/maestro settle k \d+ --happened null/);
  expect((await maestro(at, "resume", "k")).code).toBe(4);
  const shown = showSchema.parse(await json(at, "show", "k")) as unknown as Shown;
  const [effect] = shown.effects;
  expect(shown).toMatchObject({
    status: "parked",
    reason: "unknown",
    waiting: [{ seq: effect?.seq, kind: "effect", persona: "payer" }],
    effects: [{ name: "charge", state: "unknown" }],
  });
  const text = (await maestro(at, "show", "k")).stdout;
  expect(text).toContain("The outcome of 1 effect is unknown");
  expect(text).toContain(`${effect?.seq} charge: unknown`);

  const undecided = await maestro(at, "settle", "k", "charge");
  expect(undecided.code).toBe(2);
  expect(undecided.stderr).toContain("maestro settle k charge --happened null");
  expect(undecided.stderr).toContain("maestro settle k charge --did-not-happen");
  expect((await maestro(at, "settle", "k", "charge", "--happened", "{")).code).toBe(2);
  expect((await maestro(at, "settle", "k", "999", "--did-not-happen")).code).toBe(2);
  const settled = await maestro(at, "settle", "k", "charge", "--happened", '{"receipt":7}', "--json");
  expect(settled.code, settled.stderr).toBe(0);
  expect(saidSchema.parse(JSON.parse(settled.stdout))).toMatchObject({ status: "paused" });
  expect((await maestro(at, "resume", "k")).code).toBe(0);
  const done = (await json(at, "show", "k")) as Shown;
  expect(done.phases[0]?.personas[0]?.summary).toBe('{"receipt":7}');
  expect(done.effects).toMatchObject([{ state: "happened" }]);
  expect(charged()).toBe(1);

  const fork = ["fork", "k", "--at", "pay", "--fresh"];
  const refused = await maestro(at, ...fork);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("would repeat effects that happened: charge");
  expect(charged()).toBe(1);
  expect((await maestro(at, ...fork, "--repeat-effects")).code).toBe(0);
  expect(charged()).toBe(2);
});

test("a killed payment of a session that was canceled then is settled, and no command claims to resume it", async () => {
  const at = place();
  await maestro(at, "run", join(at.folder, "side"), "--team", team, "--key", "k");
  expect((await maestro(at, "cancel", "k")).code).toBe(0);
  const settled = await maestro(at, "settle", "k", "charge", "--happened");
  expect(settled.code, settled.stderr).toBe(0);
  expect(settled.stdout).toContain("has its effect settled as one that happened.");
  expect(settled.stderr).toContain("The result of the step is empty");
  expect(settled.stderr).not.toContain("resume");
});
