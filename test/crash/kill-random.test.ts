import { expect, it } from "vitest";
import { killAtRandomMoments } from "./support/random-kills.ts";

const moments = 100;
const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

it(`Start -> kill -> restart -> resume, ${moments} times at a random moment of its work (TEST_SEED=${seed})`, async () => {
  expect(await killAtRandomMoments("everyday", moments, seed)).toBeGreaterThanOrEqual(moments);
});
