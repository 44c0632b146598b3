import { expect, test } from "vitest";
import { ConfigInvalid } from "../../../src/domain/errors.ts";
import { JiraSink } from "../../../src/tickets/jira.ts";
import { jiraAccount } from "../../support/loopback-jira.ts";

const account = { ...jiraAccount, baseUrl: "https://company.atlassian.net/" };

test.each([
  "https://company.atlassian.net",
  "http://localhost:80",
  "http://127.0.0.1:80/jira",
  "http://[::1]:80",
])("%s is an address", (baseUrl) => {
  expect(new JiraSink({ ...account, baseUrl }).name).toBe("jira:OPS");
});

test.each([
  "http://company.atlassian.net",
  "http://127.0.0.1.evil.example",
  "http://localhost.evil.example",
  "https://user:pass@company.atlassian.net",
  "https://company.atlassian.net/?x=1",
  "https://company.atlassian.net/#x",
  "ftp://company.atlassian.net",
  "file:///etc/passwd",
  "company.atlassian.net",
  "",
])("%s is none", (baseUrl) => {
  expect(() => new JiraSink({ ...account, baseUrl })).toThrow(ConfigInvalid);
});

test.each([
  { projectKey: 'OPS" OR 1=1' },
  { projectKey: "ops" },
  { projectKey: "" },
  { apiToken: "" },
  { email: "" },
  { email: "a:b" },
])("%o is refused", (wrong) => {
  expect(() => new JiraSink({ ...account, ...wrong })).toThrow(ConfigInvalid);
});
