import { describe, expect, it } from "vitest";
import type { SettingKey } from "../../src/config/config.ts";
import { settingKeys } from "../../src/config/settings.ts";
import { effects } from "./setting-effects.ts";

interface AnyEffect {
  readonly cases: readonly (readonly [unknown, unknown])[];
  readonly see: (value: unknown) => Promise<unknown>;
}

/** That code asks for a setting proves little: it may copy it and forget it. What changes outside proves it. */
describe("a setting does what it says", () => {
  it.each(settingKeys)("%s", async (key: SettingKey) => {
    const { cases, see } = effects[key] as AnyEffect;
    expect(cases.length).toBeGreaterThan(1);
    for (const [value, seen] of cases) expect(await see(value), `with ${String(value)}`).toEqual(seen);
  });
});
