import { afterEach, beforeEach, expect, test } from "vitest";
import { ConfigInvalid } from "../../../src/domain/errors.ts";
import { readRetryAfter } from "../../../src/domain/retry-policy.ts";
import { GithubSink } from "../../../src/tickets/github.ts";
import { TicketRefused } from "../../../src/tickets/ticket-sink.ts";
import { githubAccount, issuesPath, LoopbackGithub } from "../../support/loopback-github.ts";
import { patience, sampleTicket } from "./sample-ticket.ts";
import { failureOf, testOutcomes } from "./wire-outcomes.ts";

let github: LoopbackGithub;
let sink: GithubSink;
beforeEach(async () => {
  github = await LoopbackGithub.start();
  sink = new GithubSink(github.options);
});
afterEach(() => github.server.close());

testOutcomes({
  sink: (timeoutMs = 5000) => new GithubSink({ ...github.options, timeoutMs }),
  server: () => github.server,
  postPath: issuesPath,
  created: () => github.issues.length,
});

test("a ticket becomes an issue with the label by which it is found again, also when it is closed", async () => {
  const ticket = sampleTicket();
  expect(await sink.find(ticket.fingerprint, patience)).toBeUndefined();
  const reference = await sink.post(ticket, patience);
  expect(reference).toEqual({
    key: "acme/night-shift#1",
    url: "https://github.com/acme/night-shift/issues/1",
  });
  const issue = github.issues[0];
  expect(issue?.title).toBe(ticket.summary);
  expect(issue?.labels.map(({ name }) => name)).toEqual(["maestro", ticket.fingerprint, ticket.problem]);
  expect(issue?.body).toContain(ticket.resumeCommand);
  github.issues.splice(0, 1, { ...github.add({ labels: [] }), ...issue, state: "closed" });
  expect(await sink.find(ticket.fingerprint, patience)).toEqual(reference);
});

test("a pull request with the label is no ticket", async () => {
  const { fingerprint } = sampleTicket();
  github.add({ labels: [{ name: fingerprint }], pull_request: {} });
  expect(await sink.find(fingerprint, patience)).toBeUndefined();
});

test("the token reaches GitHub in the header and nowhere else", async () => {
  const leak = `Authorization: Bearer ${githubAccount.token}; again ${githubAccount.token}`;
  await sink.post({ ...sampleTicket(), details: leak, summary: leak }, patience);
  expect(github.server.requests[0]?.headers.authorization).toContain(githubAccount.token);
  expect(github.server.requests[0]?.body).not.toContain(githubAccount.token);
});

test("a wrong token and a repository that is not there are clear refusals", async () => {
  const stranger = new GithubSink({ ...github.options, token: "other" });
  expect(await failureOf(stranger.post(sampleTicket(), patience))).toMatchObject({ status: 401 });
  const lost = new GithubSink({ ...github.options, repository: "acme/other" });
  const error = await failureOf(lost.find(sampleTicket().fingerprint, patience));
  expect(error).toBeInstanceOf(TicketRefused);
  expect(error).toMatchObject({ status: 404, fault: "request" });
});

test.each([
  [{ "retry-after": "30" }, 30_000],
  [{ "retry-after": "Thu, 01 Jan 2026 00:01:00 GMT", date: "Thu, 01 Jan 2026 00:00:00 GMT" }, 60_000],
  [{ "retry-after": "Thu, 01 Jan 2026 00:01:00 GMT" }, 60_000],
  [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
  [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1767225720" }, 120_000],
  [{ "x-ratelimit-remaining": "5", "x-ratelimit-reset": "1767225720" }, undefined],
  [{ "retry-after": "soon" }, undefined],
  [{}, undefined],
])("%o asks for a wait of %s ms", (said, expected) => {
  const headers = new Headers(said);
  expect(readRetryAfter((name) => headers.get(name) ?? undefined, Date.UTC(2026, 0, 1))).toBe(expected);
});

test.each([
  { repository: "night-shift" },
  { repository: "acme/.." },
  { repository: "acme/x/../../y" },
  { repository: "a b/c" },
  { token: "" },
  { token: "a\nb" },
  { apiUrl: "http://api.github.com" },
])("%o is refused", (wrong) => {
  expect(() => new GithubSink({ ...githubAccount, ...wrong })).toThrow(ConfigInvalid);
});
