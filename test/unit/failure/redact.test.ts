import { describe, expect, test } from "vitest";
import { keepSecret, redact, secretsIn } from "../../../src/domain/redact.ts";

const key = "sk-proj-Abc123Def456Ghi789";
const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.abcDEF123-_x";

describe("no secret stays in a text", () => {
  test.each([
    ["an OpenAI key", key, key],
    ["an Anthropic key", "sk-ant-api03-AbCdEf_123456-xyz", "sk-ant-api03"],
    ["an OpenRouter key", "sk-or-v1-0123456789abcdef", "sk-or-v1"],
    ["a Google key", "AIzaSyA1234567890abcdefghijk", "AIzaSy"],
    ["a Groq key", "gsk_abcdefghijklmnop123456", "gsk_abc"],
    ["a GitHub token", "ghp_abcdefghijklmnopqrst123456", "ghp_"],
    ["a fine-grained GitHub token", "github_pat_11ABCDEFG0123456789_abc", "github_pat_"],
    ["a Slack token", "xoxb-123456789012-abcdefghij", "xoxb-"],
    ["an npm token", "npm_abcdefghijklmnopqrstuvwxyz0123456789", "npm_abc"],
    ["an AWS key id", "AKIAIOSFODNN7EXAMPLE", "AKIA"],
    ["a JSON web token", `token ${token} expired`, "eyJ"],
    ["a key in a sentence", `Incorrect API key provided: ${key}. You can find it`, key],
    ["a bearer header", "Authorization: Bearer abc123.def-456", "abc123"],
    ["a basic header", "authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"],
    ["a header in JSON", '{"Authorization":"Bearer abcdef123456","x":1}', "abcdef123456"],
    ["a header as an object is printed", "{ 'x-api-key': 'abcdef123456' }", "abcdef123456"],
    ["a bearer token alone", "sent Bearer abcdef123456 to the server", "abcdef123456"],
    ["a key in a URL", "GET https://x.dev/v1/models?key=abcdef123&alt=sse failed", "abcdef123"],
    ["an access token in a URL", "https://x.dev/?a=1&access_token=abcdef123#x", "abcdef123"],
    ["a signed URL", "https://s3/x?X-Amz-Signature=deadbeef0123&X-Amz-Date=1", "deadbeef0123"],
    ["a password in a URL", "postgres://user:hunter22@db:5432/x", "hunter22"],
    ["an environment setting", "OPENAI_API_KEY=abcdef123456 npm test", "abcdef123456"],
    ["a setting in JSON", '{"apiKey": "abcdef123456"}', "abcdef123456"],
    ["a setting in YAML", "client_secret: abcdef123456\nname: x", "abcdef123456"],
    ["a token setting", "GITHUB_TOKEN=abcdef123456", "abcdef123456"],
    ["a password", "password=hunter22", "hunter22"],
    ["a cookie", "set-cookie: session=abcdef123456; Path=/", "abcdef123456"],
    [
      "a private key",
      "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\nafter",
      "MIIabc",
    ],
    ["a private key that is cut", "-----BEGIN PRIVATE KEY-----\nMIIabc", "MIIabc"],
  ])("%s", (_, text, secret) => {
    const safe = redact(text);
    expect(safe).not.toContain(secret);
    expect(safe).toContain("[redacted]");
    expect(redact(safe)).toBe(safe);
  });
});

test("what stands around a secret stays", () => {
  expect(redact(`before ${key}, after`)).toBe("before [redacted], after");
  expect(redact("GET /v1?key=abcdef123&alt=sse: 400")).toBe("GET /v1?key=[redacted]&alt=sse: 400");
  expect(redact('{"apiKey": "abc123", "model": "m"}')).toBe('{"apiKey": "[redacted]", "model": "m"}');
});

test.each([
  "max_tokens: Field required",
  "Unexpected token '<', \"<html>\" is not valid JSON",
  "Limit 30000 tokens, Used 29500, Requested 1200",
  "src/risk-assessment/task-management-board.ts:12:3",
  "Basic authentication is required; see the docs",
  "the bearer of this message",
  "https://registry.npmjs.org/@scope%2fname",
  "invalid x-api-key",
])("an ordinary sentence stays as it is: %s", (text) => {
  expect(redact(text)).toBe(text);
});

describe("secrets of this process", () => {
  test("are in no text, whatever they look like", () => {
    const env = {
      OPENAI_COMPATIBLE_API_KEY: "plain-words-of-my-own",
      DEPLOY_TOKEN: "plain-words-of-my-own-and-more",
      KEYBOARD: "not-a-secret-at-all",
      SSH_KEY_PATH: "/home/me/.ssh/key",
      DB_PASSWORD: "short",
    };
    keepSecret(secretsIn(env));
    expect(redact("no plain-words-of-my-own-and-more, plain-words-of-my-own!")).toBe(
      "no [redacted], [redacted]!",
    );
    for (const word of ["not-a-secret-at-all", "/home/me/.ssh/key", "short"])
      expect(redact(`a ${word} b`)).toBe(`a ${word} b`);
  });

  test("the working directory is no secret, and passwords named PWD are", () => {
    const folders = { PWD: "/home/me/project", OLDPWD: "/home/me/before", INIT_CWD: "/home/me/start" };
    expect(secretsIn(folders)).toEqual([]);
    expect(secretsIn({ DB_PWD: "one-password", MYSQL_PWD: "another-password" })).toEqual([
      "one-password",
      "another-password",
    ]);
    expect(redact("PWD=/home/me/project DB_PWD=one-password")).toBe("PWD=/home/me/project DB_PWD=[redacted]");
  });
});
