import { expect, it } from "vitest";
import { killAtRandomMoments } from "./support/random-kills.ts";

const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

it(`12 personas in 5 phases, killed 30 times at a random moment: no completed one runs again, and the files are those of an undisturbed run (TEST_SEED=${seed})`, async () => {
  await expect(killAtRandomMoments("department", 30, seed)).resolves.toBeUndefined();
});
