import { describe, expect, test } from "vitest";
import { keepSecret, redact, redactData, secretsIn } from "../../../src/domain/redact.ts";
import { RedactedText } from "../../../src/domain/redacted-text.ts";
import { isSecretName } from "../../../src/domain/secret-name.ts";

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
    ["a password with an @ in a URL", "postgres://user:hunter@22@db:5432/x", "22@"],
    ["an environment setting", "OPENAI_API_KEY=abcdef123456 npm test", "abcdef123456"],
    ["a setting in JSON", '{"apiKey": "abcdef123456"}', "abcdef123456"],
    ["a setting in YAML", "client_secret: abcdef123456\nname: x", "abcdef123456"],
    ["a token setting", "GITHUB_TOKEN=abcdef123456", "abcdef123456"],
    ["a password", "password=hunter22", "hunter22"],
    ["a password with a short name", "DB_PASS=hunter22 npm test", "hunter22"],
    ["a GitHub token by its name", "export GITHUB_PAT='hunter22'", "hunter22"],
    ["a data source", "SENTRY_DSN=https://abcdef@sentry.example/1", "abcdef"],
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
  "create index pk_order_line_items on order_line_items (id)",
  "npm_config_update_notifier is set",
  "TOKEN_BUDGET=400000 PWD=/home/me NODE_ENV=production",
])("an ordinary sentence stays as it is: %s", (text) => {
  expect(redact(text)).toBe(text);
});

test.each([
  "PGPASSWORD",
  "GITHUB_PAT",
  "SSHPASS",
  "DB_PASS",
  "SENTRY_DSN",
  "MYSQL_PWD",
  "AWS_SECRET_ACCESS_KEY",
  "NPM_TOKEN",
  "npm_config__auth",
  "apiKey",
  "client-secret",
  "AZURE_STORAGE_CONNECTION_STRING",
  "JWT_SECRET_OLD",
  "API_KEYS",
  "apiKeys",
  "ENCRYPTION_KEYS",
  "PASSWORDS",
  "ADMIN_PW",
  "OPENAI_KEY2",
  "OPENAI_KEY_2",
  "DB_PASS1",
  "ACCESS_TOKENS",
  "API_TOKENS",
  "GATEWAY_AUTH_HEADER",
  "authorizationHeader",
  "SLACK_WEBHOOK_URL",
  "DISCORD_WEBHOOK",
  "webhookUrl",
])("%s names a secret", (name) => {
  expect(isSecretName(name)).toBe(true);
});

test.each([
  "PWD",
  "OLDPWD",
  "NODE_ENV",
  "PATH",
  "KEYBOARD",
  "SSH_KEY_PATH",
  "SSH_AUTH_SOCK",
  "AWS_ACCESS_KEY_ID",
  "MAESTRO_TOKEN_BUDGET",
  "MAX_TOKENS",
  "JIRA_PROJECT_KEY",
  "PUBLIC_KEY",
  "BYPASS",
  "PASSENGER_COUNT",
  "AUTHOR",
  "pk_order_line_items",
  "AWS_ACCESS_KEY_ID_2",
  "SSH_KEY_PATH2",
  "PUBLIC_KEYS",
  "SSH_AUTHORIZED_KEYS",
  "MAX_KEYS",
  "AUTH0_DOMAIN",
  "maxOutputTokens",
  "HEADER",
  "WEBHOOK_PORT",
  "API_URL",
])("%s names no secret", (name) => {
  expect(isSecretName(name)).toBe(false);
});

describe("secrets of this process", () => {
  test("are the values of secret names and the passwords in addresses", () => {
    const env = {
      PGPASSWORD: "of-postgres",
      DATABASE_URL: "postgres://me:p%40ssword@db.example:5432/app",
      HTTP_PROXY: "http://proxy.example:3128",
      NODE_ENV: "production",
    };
    expect(secretsIn(env)).toEqual(["of-postgres", "p%40ssword"]);
    expect(secretsIn({ NODES: "redis://:first-one@a:1/0,redis://me:p@ss-two@b:1/0" })).toEqual([
      "first-one",
      "p@ss-two",
    ]);
    keepSecret(secretsIn(env));
    expect(redact("the passwords p@ssword and p%40ssword of postgres in production")).toBe(
      "the passwords [redacted] and [redacted] of postgres in production",
    );
  });

  test("are the passwords in connection strings and queries", () => {
    const env = {
      LIBPQ: "host=db password='with a space' dbname=app",
      JDBC_URL: "jdbc:postgresql://db/app?user=me&password=in-a-query&ssl=true",
      ORDERS_CONNECTION_STRING: "Server=db;Password=of-a-server;AccountKey=abcdef==;Timeout=30",
      NODE_OPTIONS: "--max-old-space-size=4096 --conditions=production",
      MATRIX: "key=staging-eu;auth=required",
    };
    expect(secretsIn(env)).toEqual([
      "with a space",
      "in-a-query",
      env.ORDERS_CONNECTION_STRING,
      "of-a-server",
      "abcdef==",
    ]);
  });

  test("are taken out of data by their value, except ordinary words", () => {
    keepSecret(["changeme", "tr0ub4dor&3"]);
    expect(
      redactData({ mode: "changeme", dsn: ["x:tr0ub4dor&3@y"], token: "sk-proj-abcdefghijkl0" }),
    ).toEqual({ mode: "changeme", dsn: ["x:[redacted]@y"], token: "sk-proj-abcdefghijkl0" });
    expect(redact("please changeme")).toBe("please [redacted]");
  });

  test("are taken out of data when they are letters alone, unless the words are listed", () => {
    keepSecret(secretsIn({ DB_PASS: "hunterhunter", PGPASSWORD: "postgres", API_TOKEN: "Correcthorse" }));
    expect(redactData({ log: "hunterhunter Correcthorse", db: "postgres" })).toEqual({
      log: "[redacted] [redacted]",
      db: "postgres",
    });
  });

  test.each([
    ["a value", "tr0ub4dor&3-in-pieces", "it is tr0ub4dor&3-in-pieces, yes", "it is [redacted], yes"],
    [
      "a value with spaces",
      "correct horse battery",
      "so correct horse battery staple",
      "so [redacted] staple",
    ],
    ["a key by its form", undefined, `it is ${key}, yes`, "it is [redacted], yes"],
    ["a header", undefined, "Authorization: Bearer abcdef123456 sent", "Authorization: [redacted] sent"],
    ["no secret", undefined, "以外没有秘密 and a-word", "以外没有秘密 and a-word"],
    [
      "a private key",
      undefined,
      "a -----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY----- b",
      "a [redacted] b",
    ],
  ])("do not show when a text arrives in two pieces, wherever it is split: %s", (_, secret, text, shown) => {
    keepSecret([secret]);
    for (let at = 0; at <= text.length; at += 1) {
      const live = new RedactedText();
      expect(live.add(text.slice(0, at)) + live.add(text.slice(at)) + live.end()).toBe(shown);
    }
    const live = new RedactedText();
    expect(Array.from(text, (character) => live.add(character)).join("") + live.end()).toBe(shown);
  });

  test.each([
    ["a value", "tr0ub4dor&3-in-a-long-word"],
    ["a key by its form", key],
  ])("do not show when they are in a word that is too long to be held back: %s", (_, secret) => {
    keepSecret(["tr0ub4dor&3-in-a-long-word"]);
    for (let before = 15_300; before < 18_000; before += 7) {
      const live = new RedactedText();
      const text = `${".".repeat(before)}${secret},${".".repeat(20_000)}`;
      let shown = "";
      for (let at = 0; at < text.length; at += 512) shown += live.add(text.slice(at, at + 512));
      expect(shown.length).toBeGreaterThan(10_000);
      expect(shown + live.end()).toBe(text.replace(secret, "[redacted]"));
    }
  });

  test.each([
    ["a setting", `api_key=${"a1".repeat(30_000)} after`, "api_key=[redacted] after"],
    ["a cookie", `cookie: ${"a1; ".repeat(10_000)}\nafter`, "cookie: [redacted]\nafter"],
    [
      "a private key",
      `-----BEGIN PRIVATE KEY-----\n${"MIIabc\n".repeat(9_000)}-----END PRIVATE KEY----- after`,
      "[redacted] after",
    ],
  ])("do not show when they are longer than what is held back: %s", (_, text, shown) => {
    for (const size of [13, 1000, 50_000]) {
      const live = new RedactedText();
      let found = "";
      for (let at = 0; at < text.length; at += size) found += live.add(text.slice(at, at + size));
      expect(found + live.end()).toBe(shown);
    }
  });

  test("a long word without a secret is shown before its end", () => {
    const live = new RedactedText();
    const word = "x".repeat(100_000);
    const shown = live.add(word);
    expect(shown.length).toBeGreaterThan(60_000);
    expect(shown + live.end()).toBe(word);
  });

  test("text without a possible secret is shown at once", () => {
    const live = new RedactedText();
    expect(live.add("Two words and ")).toBe("Two words and ");
    expect(live.add("没有秘密")).toBe("没有秘密");
  });

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

  test.each(["", "u:", "me:", "user:", "a longer name:"])("are in no base64 behind %j", (before) => {
    const secret = "correct-horse-battery?>staple";
    keepSecret([secret]);
    for (const encoding of ["base64", "base64url"] as const) {
      const text = `sent ${Buffer.from(`${before}${secret} and more`).toString(encoding)} away`;
      const [, kept = ""] = /^sent (\S*?)\[redacted\]\S* away$/.exec(redact(text)) ?? [];
      expect(redact(text)).toContain("[redacted]");
      expect(Buffer.from(kept, encoding).toString().length).toBeLessThanOrEqual(before.length + 1);
      expect(JSON.stringify(redactData({ text }))).toContain("[redacted]");
    }
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
