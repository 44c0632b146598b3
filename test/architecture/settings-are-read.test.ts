import { describe, expect, it } from "vitest";
import type { SettingKey } from "../../src/config/config.ts";
import { settingKeys } from "../../src/config/settings.ts";
import { effects } from "./setting-effects.ts";

interface AnyEffect {
  readonly cases: readonly (readonly [unknown, unknown])[];
  readonly see: (value: unknown) => Promise<unknown>;
}

/** Code may read a setting and ignore it, so each test checks a visible effect. */
describe("every setting has its effect", () => {
  it.each(settingKeys)("%s changes what its row says", async (key: SettingKey) => {
    const { cases, see } = effects[key] as AnyEffect;
    expect(cases.length).toBeGreaterThan(1);
    for (const [value, seen] of cases) expect(await see(value), `with ${String(value)}`).toEqual(seen);
  });
});
