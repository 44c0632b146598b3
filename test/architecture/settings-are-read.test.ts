import { expect, test } from "vitest";
import { settingKeys } from "../../src/config/settings.ts";
import { readSources, withoutComments } from "./source-files.ts";

const readers = [...readSources()].filter(([file]) => !file.startsWith("src/config/"));

test.each(settingKeys)("the setting %s is read outside src/config", (key) => {
  const access = new RegExp(`\\bconfig\\.${key.replaceAll(".", "\\.")}\\b`);
  const found = readers.filter(([, text]) => access.test(withoutComments(text))).map(([file]) => file);
  expect(found, `no file outside src/config reads config.${key}`).not.toEqual([]);
});
