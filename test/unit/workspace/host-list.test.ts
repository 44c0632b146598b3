import { describe, expect, test } from "vitest";
import { isListed, mayConnect, parseHost } from "../../../src/workspace/network/host-list.ts";

describe("a list of hosts", () => {
  test.each([
    ["registry.example", "registry.example", 443, true],
    ["registry.example", "REGISTRY.example.", 80, true],
    ["registry.example", "evil-registry.example", 443, false],
    ["registry.example", "registry.example.evil", 443, false],
    ["*.example.com", "a.b.example.com", 443, true],
    ["*.example.com", "example.com", 443, false],
    ["*.example.com", "badexample.com", 443, false],
    ["*.0.0.1", "127.0.0.1", 443, false],
    ["registry.example:443", "registry.example", 8443, false],
    ["127.0.0.1:4873", "127.0.0.1", 4873, true],
    ["[::1]:80", "::1", 80, true],
  ])("%s allows %s:%i: %s", (listed, host, port, allowed) => {
    expect(isListed([listed], host, port)).toBe(allowed);
  });

  test.each(["", "a b", "http://a", "a:0", "a:99999", "a..b", "*", "*.*.a", "a/b", "[zz]", "-a.b"])(
    "refuses %j as a host",
    (text) => {
      expect(parseHost(text)).toBeUndefined();
    },
  );

  test("a public name that resolves to this machine, its network or its cloud is not connected", () => {
    const addresses = [
      "127.0.0.1",
      "10.0.0.1",
      "169.254.169.254",
      "::1",
      "fd00::1",
      "::ffff:127.0.0.1",
      "100.64.0.1",
      "192.0.2.1",
      "198.51.100.1",
      "203.0.113.1",
      "2001:db8::1",
      "3fff::1",
      "64:ff9b::a00:1",
    ];
    for (const address of addresses) {
      expect(mayConnect(["public.example"], "public.example", 443, address)).toBe(false);
      expect(mayConnect(true, "public.example", 443, address)).toBe(false);
    }
    expect(mayConnect(["public.example"], "public.example", 443, "93.184.216.34")).toBe(true);
    expect(mayConnect(true, "public.example", 443, "2606:2800:220:1::1")).toBe(true);
  });

  test("an address of the machine's own network is connected where the list names it", () => {
    expect(mayConnect(["npm.corp", "10.0.0.1"], "npm.corp", 443, "10.0.0.1")).toBe(true);
    expect(mayConnect(["localhost:4873"], "localhost", 4873, "127.0.0.1")).toBe(true);
    expect(mayConnect(["localhost:4873"], "localhost", 22, "127.0.0.1")).toBe(false);
  });
});
