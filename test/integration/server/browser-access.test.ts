import { expect, test } from "vitest";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import { BrowserCookie, cookieLifeMs } from "../../../src/server/access/browser-cookie.ts";
import { codeLifeMs, OneTimeCodes } from "../../../src/server/access/one-time-code.ts";

test("a code opens once, not twice, and not after ten minutes", async () => {
  const clock = new ManualClock();
  const codes = new OneTimeCodes(clock);
  const { code, expiresAt } = codes.issue();
  expect(expiresAt).toBe(clock.now() + codeLifeMs);
  expect(codes.redeem(`${code}x`)).toBe(false);
  expect(codes.redeem("")).toBe(false);
  expect(codes.redeem(code)).toBe(true);
  expect(codes.redeem(code)).toBe(false);
  const late = codes.issue().code;
  await clock.advance(codeLifeMs);
  expect(codes.redeem(late)).toBe(false);
});

test("bounds unredeemed codes and keeps the newest", () => {
  const codes = new OneTimeCodes(new ManualClock());
  const issued = Array.from({ length: 500 }, () => codes.issue().code);
  expect(codes.redeem(issued[0] ?? "")).toBe(false);
  expect(codes.redeem(issued.at(-1) ?? "")).toBe(true);
});

const cookieWith = (token: string, clock: ManualClock, stateDirectory = "/state") =>
  new BrowserCookie(token, { clock, stateDirectory });

function cookieOf(header: string): string {
  return header.split(";")[0] ?? "";
}

test("the cookie cannot be read by scripts or sent by other sites, and holds nothing of the token", () => {
  const header = cookieWith("the-secret-token", new ManualClock()).issue({ secure: false });
  expect(header).toMatch(/; HttpOnly; SameSite=Strict$/);
  expect(header).toContain("; Path=/;");
  expect(header).not.toContain("the-secret-token");
  expect(cookieWith("t", new ManualClock()).issue({ secure: true })).toMatch(/; Secure$/);
});

test("the cookie outlives a restart and ends with its time or with a new token", async () => {
  const clock = new ManualClock();
  const cookie = cookieOf(cookieWith("token-one", clock).issue({ secure: false }));
  const restarted = cookieWith("token-one", clock);
  expect(restarted.accepts(cookie)).toBe(true);
  expect(restarted.accepts(`other=1; ${cookie}; more=2`)).toBe(true);
  expect(cookieWith("token-two", clock).accepts(cookie)).toBe(false);
  await clock.advance(cookieLifeMs);
  expect(restarted.accepts(cookie)).toBe(false);
});

test("a cookie that was changed in any place is refused", () => {
  const clock = new ManualClock();
  const cookies = cookieWith("token-one", clock);
  const value = cookieOf(cookies.issue({ secure: false })).slice(cookies.name.length + 1);
  for (let at = 0; at < value.length; at += 1) {
    const other = value[at] === "A" ? "B" : "A";
    const changed = value.slice(0, at) + other + value.slice(at + 1);
    // The last character of a base64 text has bits that mean nothing; its signature is compared as text all the same.
    expect(cookies.accepts(`${cookies.name}=${changed}`), `changed at ${at}`).toBe(false);
  }
  const [, nonce, signature] = value.split(".");
  expect(cookies.accepts(`${cookies.name}=9999999999999.${nonce}.${signature}`)).toBe(false);
  expect(cookies.accepts(`${cookies.name}=`)).toBe(false);
  expect(cookies.accepts(undefined)).toBe(false);
  expect(cookies.accepts(`${cookies.name}=${"1".repeat(100_000)}`)).toBe(false);
});

test("two servers of one machine keep separate cookies", () => {
  const clock = new ManualClock();
  const [one, two] = [cookieWith("token-one", clock, "/one"), cookieWith("token-two", clock, "/two")];
  expect(one.name).not.toBe(two.name);
  const both = [one, two].map((each) => cookieOf(each.issue({ secure: false }))).join("; ");
  expect(one.accepts(both)).toBe(true);
  expect(two.accepts(both)).toBe(true);
});

test("a cookie in use is old in time for a new one", async () => {
  const clock = new ManualClock();
  const cookies = cookieWith("token-one", clock);
  const cookie = cookieOf(cookies.issue({ secure: false }));
  expect(cookies.isOld(cookie)).toBe(false);
  await clock.advance(cookieLifeMs / 2 + 1);
  expect(cookies.isOld(cookie)).toBe(true);
  expect(cookies.accepts(cookie)).toBe(true);
});
