import { expect, test } from "vitest";
import { attackApp } from "../../campaign/hostile-http.ts";

test.each([1, 2, 3])(
  "random requests, seed %d, are answered or refused with a stable code and plain words, and a refused one changes nothing",
  async (seed) => {
    expect(await attackApp(seed, 600)).toBe(600);
  },
);
