import { expect, test } from "vitest";
import { withQuery } from "../../../dashboard/src/api/client.ts";
import { artifactsQuery, parseArtifactsQuery } from "../../../dashboard/src/url/artifacts-url.ts";
import {
  addressOf,
  formatRunQuery,
  parseRunQuery,
  parseSessionAddress,
  sessionAddress,
} from "../../../dashboard/src/url/session-url.ts";
import {
  formatSessionsFilter,
  noFilter,
  parseSessionsFilter,
  sinceTime,
} from "../../../dashboard/src/url/sessions-url.ts";
import { formatUsageQuery, parseUsageQuery } from "../../../dashboard/src/url/usage-url.ts";

test("filters of the list survive the address, and the plain list is /", () => {
  const filter = { view: "failed", team: "a & b", since: "7d", text: "50% <x>" } as const;
  expect(parseSessionsFilter(formatSessionsFilter(filter).slice(2))).toEqual(filter);
  expect(formatSessionsFilter(noFilter)).toBe("/");
});

test("an unknown value in the address falls back to the default", () => {
  expect(parseSessionsFilter("?view=<script>&since=1000y")).toEqual(noFilter);
  expect(parseRunQuery("?persona=%2F%2F&attempt=r1a99999&show=x&journal=y")).toMatchObject({
    attempt: undefined,
    inspector: "live",
    journal: "all",
  });
  expect(parseArtifactsQuery("?at=javascript:alert(1)&with=phase:design")).toEqual({
    at: undefined,
    with: "phase:design",
    path: undefined,
  });
  expect(parseSessionsFilter(`?q=${"x".repeat(5000)}`).text).toHaveLength(200);
});

test("a selection is written as people read it and comes back whole", () => {
  const query = {
    selection: { phase: "implementation", persona: "backend_developer" },
    attempt: { round: 1, attempt: 2 },
    inspector: "files",
    journal: "money",
    table: true,
  } as const;
  const written = formatRunQuery(query);
  expect(written).toBe(
    "?persona=implementation/backend_developer&attempt=r1a2&show=files&journal=money&table=1",
  );
  expect(parseRunQuery(written)).toEqual(query);
});

test("a key that a browser would read as something else is linked by its id", () => {
  const id = "s_1";
  for (const key of [".", "..", "a%2Fb", "100%", "%41"]) expect(addressOf({ key, id })).toBe("/s/s_1");
  for (const key of ["parking-1", "a/b", "...", "a b"])
    expect(addressOf({ key, id })).toBe(`/s/${encodeURIComponent(key)}`);
  expect(addressOf({ key: null, id })).toBe("/s/s_1");
});

test("keys with slashes, spaces and percent signs have addresses of their own", () => {
  for (const key of ["parking-1", "a/b c", "100%", "<b>hostile</b>", "ключ"]) {
    expect(parseSessionAddress(sessionAddress(key, "run"))).toEqual({ idOrKey: key, tab: "run" });
  }
  expect(parseSessionAddress("/s/x")).toEqual({ idOrKey: "x", tab: undefined });
  expect(parseSessionAddress("/s/x/nonsense")).toEqual({ idOrKey: "x", tab: undefined });
  expect(parseSessionAddress("/s/%E0%A4%A")).toBeUndefined();
  expect(parseSessionAddress("/usage")).toBeUndefined();
});

test("artifacts and usage keep what is shown in the address", () => {
  const artifacts = { at: "phase:design", with: "attempt:p/q/r1a2", path: "src/ü b.ts" };
  expect(parseArtifactsQuery(artifactsQuery(artifacts))).toEqual(artifacts);
  const usage = { by: "model", unit: "tokens", since: "30d", session: "parking-1" } as const;
  expect(parseUsageQuery(formatUsageQuery(usage))).toEqual(usage);
});

test("a period starts at a whole hour, so that the same question is asked for an hour", () => {
  const now = Date.parse("2026-11-15T14:31:07.000Z");
  expect(sinceTime("1d", now)).toBe("2026-11-14T14:00:00.000Z");
  expect(sinceTime("any", now)).toBeUndefined();
});

test("empty parameters are left out of requests", () => {
  expect(withQuery("/v1/sessions", { q: "", team: undefined, limit: 5 })).toBe("/v1/sessions?limit=5");
});
