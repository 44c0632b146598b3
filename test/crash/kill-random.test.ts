import { expect, it } from "vitest";
import { killAtRandomMoments } from "./support/random-kills.ts";

const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

it(`Start -> kill -> restart -> resume, 100 times at a random moment (TEST_SEED=${seed})`, async () => {
  await expect(killAtRandomMoments("everyday", 100, seed)).resolves.toBeUndefined();
});
