import { expect, test } from "vitest";
import { addressProblem, isGitAddress, secretIn, withoutSecret } from "../../../src/domain/git-address.ts";

test.each([
  ["https://host/team/project.git", true],
  ["ssh://git@host:22/project", true],
  ["git://host/project", true],
  ["file:///srv/project", true],
  ["git@host:team/project.git", true],
  ["host:project", true],
  ["ext::sh -c id", true],
  [".", false],
  ["/srv/project", false],
  ["../project", false],
  ["./odd:name", false],
  ["/srv/a::b", false],
])("%s is an address: %s", (text, expected) => {
  expect(isGitAddress(text)).toBe(expected);
});

test.each([
  ["ext::sh", /program of git/],
  ["fd::3", /program of git/],
  ["ssh://-oProxyCommand=id/x", /host that begins with a dash/],
  ["ssh://me@-oProxyCommand=id/x", /host that begins with a dash/],
  ["-oProxyCommand=id:x", /begins with a dash/],
  ["https://host/a b", /spaces/],
  ["ftp://host/x", /begins with ftp/],
])("%s is not fetched from", (text, problem) => {
  expect(addressProblem(text)).toMatch(problem);
});

test("what stands before the host of a web address is a secret, and so is a password of any address", () => {
  expect(secretIn("https://token@host/x")).toBe("token");
  expect(withoutSecret("https://me:pass@word@host/x")).toBe("https://host/x");
  expect(withoutSecret("ssh://git:pass@host/x")).toBe("ssh://git@host/x");
  expect(withoutSecret("ssh://git@host/x")).toBe("ssh://git@host/x");
  expect(withoutSecret("git@host:x")).toBe("git@host:x");
});
