import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { JiraSink } from "../../../src/tickets/jira.ts";
import { createPath, jiraAccount } from "../../support/loopback-jira.ts";
import { patience, sampleTicket } from "./sample-ticket.ts";
import { failureOf } from "./wire-outcomes.ts";

const program = join(import.meta.dirname, "../../support/loopback-jira.ts");

test("the loopback Jira runs as a program of its own, is switched from outside and ends with its parent", async () => {
  const child = spawn(process.execPath, [program, '{"searchLagMs":60000}'], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await once(createInterface(child.stdout), "line");
  const baseUrl = `http://127.0.0.1:${(JSON.parse(String(line)) as { port: number }).port}`;
  const sink = new JiraSink({ ...jiraAccount, baseUrl });
  const ticket = sampleTicket();
  const script = { [createPath]: ["drop-after"] };
  await fetch(`${baseUrl}/loopback/switches`, { method: "POST", body: JSON.stringify({ script }) });
  await failureOf(sink.post(ticket, patience));
  expect(await sink.find(ticket.fingerprint, patience)).toBeUndefined();
  const log = (await (await fetch(`${baseUrl}/loopback/log`)).json()) as {
    issues: unknown[];
    requests: unknown[];
  };
  expect([log.issues.length, log.requests.length]).toEqual([1, 2]);
  child.stdin.end();
  expect((await once(child, "exit"))[0]).toBe(0);
});
