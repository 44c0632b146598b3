import { expect, it } from "vitest";
import { killAtRandomMoments } from "./support/random-kills.ts";

const moments = 30;
const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

it(`12 personas in 5 phases, killed ${moments} times at a random moment: no completed one runs again, and the files are those of an undisturbed run (TEST_SEED=${seed})`, async () => {
  expect(await killAtRandomMoments("department", moments, seed)).toBeGreaterThanOrEqual(moments);
});

it(`a persona that is sent back twice, killed 12 times at a random moment: all it made is there (TEST_SEED=${seed})`, async () => {
  expect(await killAtRandomMoments("workshop", 12, seed)).toBeGreaterThan(4);
});
