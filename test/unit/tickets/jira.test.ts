import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { JiraSink } from "../../../src/tickets/jira.ts";
import { TicketRefused, TicketUnclear } from "../../../src/tickets/ticket-sink.ts";
import { createPath, jiraAccount, LoopbackJira, searchPath } from "../../support/loopback-jira.ts";
import { patience, sampleTicket } from "./sample-ticket.ts";
import { failureOf, testOutcomes } from "./wire-outcomes.ts";

let jira: LoopbackJira;
let sink: JiraSink;
beforeEach(async () => {
  jira = await LoopbackJira.start();
  sink = new JiraSink(jira.options);
});
afterEach(() => jira.server.close());

testOutcomes({
  sink: (timeoutMs = 5000) => new JiraSink({ ...jira.options, timeoutMs }),
  server: () => jira.server,
  postPath: createPath,
  created: () => jira.issues.length,
});

test("a ticket becomes a Bug in the project, with the labels by which it is found again", async () => {
  const ticket = sampleTicket();
  expect(await sink.find(ticket.fingerprint, patience)).toBeUndefined();
  const reference = await sink.post(ticket, patience);
  expect(reference).toEqual({ key: "OPS-1", url: `${jira.server.url}/browse/OPS-1` });
  expect(jira.issues[0]?.fields).toMatchObject({
    summary: ticket.summary,
    issuetype: { name: "Bug" },
    labels: ["maestro", ticket.fingerprint, ticket.problem],
  });
  expect(await sink.find(ticket.fingerprint, patience)).toEqual(reference);
  expect(sink.name).toBe("jira:OPS");
});

test("an issue that the search does not know yet is found later", async () => {
  jira.switches.searchLagMs = 60_000;
  const ticket = sampleTicket();
  await sink.post(ticket, patience);
  expect(await sink.find(ticket.fingerprint, patience)).toBeUndefined();
  jira.switches.searchLagMs = 0;
  expect(await sink.find(ticket.fingerprint, patience)).toMatchObject({ key: "OPS-1" });
});

test("of several issues the newest is found, of other problems none", async () => {
  const ticket = sampleTicket();
  await sink.post(ticket, patience);
  await sink.post(ticket, patience);
  expect(await sink.find(ticket.fingerprint, patience)).toMatchObject({ key: "OPS-2" });
  expect(await sink.find("maestro-0000000000000000", patience)).toBeUndefined();
});

test("Jira takes the largest ticket and the smallest", async () => {
  const failures = Array.from({ length: 90 }, (_, at) => ({
    round: 1,
    attempt: at,
    message: "m".repeat(5000),
  }));
  await sink.post(
    sampleTicket({ message: "s\n".repeat(2000), details: "d".repeat(99_999), failures }),
    patience,
  );
  await sink.post(
    sampleTicket({ failures: [], details: "", suggestedActions: [], resumeCommand: "" }),
    patience,
  );
  expect(jira.issues).toHaveLength(2);
});

test("credentials reach Jira in the header and nowhere else", async () => {
  const { email, apiToken } = jiraAccount;
  const basic = Buffer.from(`${email}:${apiToken}`).toString("base64");
  const leak = `POST failed, authorization: Basic ${basic} token ${apiToken} raw ${basic}`;
  const made = sampleTicket({ details: leak, failures: [{ round: 1, attempt: 1, message: leak }] });
  // As if the ticket was made without newTicket.
  await sink.post(
    { ...made, summary: leak, details: leak, context: { leak }, suggestedActions: [leak] },
    patience,
  );
  const [request] = jira.server.requests;
  expect(request?.headers.authorization).toBe(`Basic ${basic}`);
  expect(request?.body).not.toContain(apiToken);
  expect(request?.body).not.toContain(basic);
});

describe("a refusal says what is wrong", () => {
  test("with a field", async () => {
    const other = new JiraSink({ ...jira.options, projectKey: "NOPE" });
    const error = await failureOf(other.post(sampleTicket(), patience));
    expect(error).toBeInstanceOf(TicketRefused);
    expect(error).toMatchObject({ status: 400, fault: "request" });
    expect((error as Error).message).toBe(
      "Jira refused the request with status 400: project: valid project is required.",
    );
  });

  test("with the credentials", async () => {
    const stranger = new JiraSink({ ...jira.options, apiToken: "expired-token" });
    const error = await failureOf(stranger.post(sampleTicket(), patience));
    expect(error).toMatchObject({ status: 401, fault: "request" });
    expect((error as TicketRefused).advice).toContain("credentials");
    expect(JSON.stringify(error)).not.toContain("expired-token");
  });
});

describe("a search that saw nothing because it may not look is no answer", () => {
  test("an expired token", async () => {
    jira.switches.searchAsNobody = true;
    expect(await failureOf(sink.find(sampleTicket().fingerprint, patience))).toMatchObject({ status: 401 });
  });

  test("a project that the account does not see", async () => {
    const other = new JiraSink({ ...jira.options, projectKey: "NOPE" });
    expect(await failureOf(other.find(sampleTicket().fingerprint, patience))).toMatchObject({ status: 400 });
  });

  test.each(["cut-answer", "drop-before", "huge", "server-error", "rate-limit", "redirect", "slow"] as const)(
    "%s",
    async (behavior) => {
      await sink.post(sampleTicket(), patience);
      jira.switches.script[searchPath] = [behavior];
      const inTime = behavior === "slow" ? new JiraSink({ ...jira.options, timeoutMs: 200 }) : sink;
      const error = await failureOf(inTime.find(sampleTicket().fingerprint, patience));
      expect(TicketRefused.is(error) || TicketUnclear.is(error)).toBe(true);
    },
  );
});
