import { describe, expect, test } from "vitest";
import { type AskedFrom, allowedHosts, refusalOf } from "../../../src/server/access/host-check.ts";

const loopback = { host: "127.0.0.1", port: 4160 };
const allowed = allowedHosts(loopback, undefined);

const asked = (over: Partial<AskedFrom> = {}): AskedFrom => ({
  method: "GET",
  urlHost: "127.0.0.1:4160",
  hosts: ["127.0.0.1:4160"],
  origin: undefined,
  fetchSite: undefined,
  byCookie: false,
  ...over,
});

const underName = (host: string) => refusalOf(asked({ urlHost: host, hosts: [host] }), allowed);
const fromOrigin = (origin: string) => refusalOf(asked({ origin }), allowed);

describe("names", () => {
  test.each(["127.0.0.1:4160", "localhost:4160", "LOCALHOST:4160", "[::1]:4160"])("%s is its own", (host) => {
    expect(underName(host)).toBeUndefined();
  });

  test.each([
    "evil.example",
    "evil.example:4160",
    "127.0.0.1.evil.example:4160",
    "localhost.evil.example:4160",
    "localhost.:4160",
    "localhost",
    "127.0.0.1",
    "127.0.0.1:80",
    "127.0.0.1:41600",
    "127.0.0.1:4160.evil.example",
    "127.1:4160",
    "127.0.1:4160",
    "127.0.0.2:4160",
    "0x7f.0.0.1:4160",
    "0177.0.0.1:4160",
    "2130706433:4160",
    "0:4160",
    "0.0.0.0:4160",
    "[::]:4160",
    "[::ffff:127.0.0.1]:4160",
    "[0:0:0:0:0:0:0:1]:4160",
    "[::1%25lo]:4160",
    "10.0.0.1:4160",
    "169.254.169.254:4160",
    "user@127.0.0.1:4160",
    "127.0.0.1:4160@evil.example",
    " 127.0.0.1:4160",
    "127.0.0.1:4160, evil.example",
    "localhost:4160#.evil.example",
    "ⓛocalhost:4160",
    "",
    "null",
    "*",
  ])("the Host header %j is refused", (host) => {
    expect(underName(host)).toBe("host");
  });

  test("the address and every Host header must agree that it is allowed", () => {
    expect(refusalOf(asked({ hosts: ["evil.example"] }), allowed)).toBe("host");
    expect(refusalOf(asked({ urlHost: "evil.example" }), allowed)).toBe("host");
    expect(refusalOf(asked({ hosts: ["127.0.0.1:4160", "127.0.0.1:4160"] }), allowed)).toBe("host");
    expect(refusalOf(asked({ hosts: ["127.0.0.1:4160", "evil.example"] }), allowed)).toBe("host");
  });

  test("the public address is allowed only when it is set, under its own port or that of the server", () => {
    const more = allowedHosts(loopback, "https://maestro.example.org");
    for (const host of ["maestro.example.org", "maestro.example.org:4160", "MAESTRO.example.org"])
      expect(refusalOf(asked({ urlHost: host, hosts: [host] }), more)).toBeUndefined();
    for (const host of ["maestro.example.org:1", "example.org", "x.maestro.example.org"])
      expect(refusalOf(asked({ urlHost: host, hosts: [host] }), more)).toBe("host");
    const other = allowedHosts({ host: "0.0.0.0", port: 4160 }, "http://other.example:8443");
    for (const host of ["other.example:8443", "127.0.0.1:4160"])
      expect(refusalOf(asked({ urlHost: host, hosts: [host] }), other)).toBeUndefined();
    for (const host of ["other.example", "other.example:4160", "evil.example:8443"])
      expect(refusalOf(asked({ urlHost: host, hosts: [host] }), other)).toBe("host");
  });

  test("listening on every address does not allow every name", () => {
    const everywhere = allowedHosts({ host: "0.0.0.0", port: 4160 }, undefined);
    expect(refusalOf(asked({ urlHost: "192.168.0.7:4160", hosts: [] }), everywhere)).toBe("host");
    const one = allowedHosts({ host: "192.168.0.7", port: 4160 }, undefined);
    expect(refusalOf(asked({ urlHost: "192.168.0.7:4160", hosts: [] }), one)).toBeUndefined();
    const six = allowedHosts({ host: "fe80::1", port: 4160 }, undefined);
    expect(six.has("[fe80::1]:4160")).toBe(true);
    expect(allowedHosts({ host: "127.0.0.1", port: 80 }, undefined).has("localhost")).toBe(true);
  });
});

describe("origins", () => {
  test.each([
    "http://127.0.0.1:4160",
    "http://localhost:4160",
    "http://[::1]:4160",
    "https://localhost:4160",
  ])("%s is its own", (origin) => {
    expect(fromOrigin(origin)).toBeUndefined();
  });

  test.each([
    "null",
    "",
    "http://evil.example",
    "http://127.0.0.1",
    "http://127.0.0.1:3000",
    "http://localhost:3000",
    "http://127.0.0.1:4160.evil.example",
    "http://127.0.0.1:4160@evil.example",
    "http://evil.example@127.0.0.1:4160",
    "http://127.0.0.1:4160/",
    "http://127.0.0.1:4160/x",
    "http://127.0.0.1:4160 http://evil.example",
    "file://",
    "chrome-extension://abcdef",
    "127.0.0.1:4160",
    "http:127.0.0.1:4160",
    "data:text/html,x",
    "blob:http://127.0.0.1:4160/x",
  ])("%j is another one", (origin) => {
    expect(fromOrigin(origin)).toBe("origin");
  });

  test.each(["cross-site", "same-site", "CROSS-SITE", "anything"])(
    "Sec-Fetch-Site %s is refused",
    (fetchSite) => {
      expect(refusalOf(asked({ fetchSite }), allowed)).toBe("origin");
    },
  );

  test("a cookie alone changes nothing: a browser must say that the page is this server's own", () => {
    const post = asked({ method: "POST", byCookie: true });
    expect(refusalOf(post, allowed)).toBe("origin");
    expect(refusalOf({ ...post, fetchSite: "none" }, allowed)).toBe("origin");
    expect(refusalOf({ ...post, fetchSite: "same-origin" }, allowed)).toBeUndefined();
    expect(refusalOf({ ...post, origin: "http://127.0.0.1:4160" }, allowed)).toBeUndefined();
    expect(refusalOf({ ...post, byCookie: false }, allowed), "programs with the token").toBeUndefined();
    expect(refusalOf({ ...post, method: "GET" }, allowed)).toBeUndefined();
  });
});
