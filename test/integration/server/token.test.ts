import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadToken, TokenCheck, tokenFile } from "../../../src/server/access/token.ts";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "maestro-token-"));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

test("the first start makes a token of 256 bits that only its owner can read; later starts keep it", async () => {
  const path = await folder();
  const token = await loadToken(path);
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
  expect((await stat(join(path, tokenFile))).mode & 0o777).toBe(0o600);
  expect(await loadToken(path)).toBe(token);
  expect(await readdir(path)).toEqual([tokenFile]);
});

test("servers that start at the same moment agree on one token", async () => {
  const path = await folder();
  const tokens = await Promise.all(Array.from({ length: 20 }, () => loadToken(path)));
  expect(new Set(tokens).size).toBe(1);
  expect((await readFile(join(path, tokenFile), "utf8")).trim()).toBe(tokens[0]);
  expect(await readdir(path)).toEqual([tokenFile]);
});

test.each([
  ["that others may read", async (path: string) => await chmod(path, 0o640), "others may read it"],
  ["that is empty", (path: string) => writeFile(path, ""), "does not hold a token"],
  ["with a second line", (path: string) => writeFile(path, "abcdefgh\nijklmnop\n"), "does not hold a token"],
  ["with a blank in it", (path: string) => writeFile(path, "abcd efgh ijkl"), "does not hold a token"],
  ["that is far too long", (path: string) => writeFile(path, "a".repeat(5_000)), "too long"],
])("a file %s is refused, not used", async (_title, damage, why) => {
  const path = await folder();
  await loadToken(path);
  await damage(join(path, tokenFile));
  await expect(loadToken(path)).rejects.toThrow(why);
});

test("a symbolic link in its place is not followed", async () => {
  const path = await folder();
  await writeFile(join(path, "elsewhere"), "a-token-of-somebody-else\n", { mode: 0o600 });
  await symlink(join(path, "elsewhere"), join(path, tokenFile));
  await expect(loadToken(path)).rejects.toThrow("symbolic link");
});

test("only the whole token is accepted, in the one form that headers have", () => {
  const check = new TokenCheck("correct-horse-battery");
  expect(check.accepts("Bearer correct-horse-battery")).toBe(true);
  expect(check.accepts("bearer correct-horse-battery")).toBe(true);
  for (const wrong of [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    "correct-horse-battery",
    "Basic correct-horse-battery",
    "Bearer correct-horse-batter",
    "Bearer correct-horse-batteryy",
    "Bearer  correct-horse-battery",
    "Bearer correct-horse-battery ",
    "Bearer correct-horse-battery, Bearer x",
    "Bearer CORRECT-HORSE-BATTERY",
    `Bearer ${"x".repeat(10_000)}`,
    "Bearer correct-horse-battery\u0000",
  ])
    expect(check.accepts(wrong), `for ${wrong}`).toBe(false);
});
