import { describe, expect, test } from "vitest";
import { secretByContent, secretByName } from "../../../src/workspace/repository/secret-files.ts";

describe("by its name", () => {
  test.each([
    ".env",
    ".env.local",
    ".env-prod",
    ".env_local",
    ".environment",
    ".env.dist",
    "deploy/prod.env",
    "id_rsa",
    "id_ed25519.bak",
    "tls/server.key",
    "key.pem.old",
    "server.crt",
    "root.CER",
    "root.der",
    ".docker/config.json",
    ".dockercfg",
    "kubeconfig",
    "home/.kube/config",
    "gcp-key.json",
    "firebase-adminsdk-x1.json",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "prod.tfvars",
    "config/secrets.yml",
    "secrets.json",
    "htpasswd",
    ".vault-token",
    ".netrc",
    "credentials.json",
    "service-account-prod.json",
  ])("%s stays home", (path) => {
    expect(secretByName(path)).toBe("its name says that it holds secrets");
  });

  test.each([
    ".env.example",
    ".env.sample",
    ".env.local.template",
    "example.env",
    "id_rsa.pub",
    "src/environment.ts",
    "src/secrets.ts",
    "docs/credentials.md",
    "config.json",
    "keyboard.ts",
    "src/config",
    "variables.tf",
    "monkey.js",
    "README.md",
    "index.d.ts~",
  ])("%s is an ordinary file", (path) => {
    expect(secretByName(path)).toBeUndefined();
  });
});

const of = (length: number, text = "a1B2"): string => text.repeat(length).slice(0, length);

describe("by its content", () => {
  // Joined here, so that no file of this project looks like one with a key.
  test.each([
    ["a private key", ["-----BEGIN RSA ", "PRIVATE KEY-----"]],
    ["an AWS key", ["AK", "IA", of(16, "ABC2")]],
    ["an AWS secret key", ["AWS_SECRET_ACCESS", "_KEY=", of(40)]],
    ["an Azure account key", ["Account", "Key=", of(86), "=="]],
    ["a GitHub token", ["gh", "p_", of(36)]],
    ["a GitLab token", ["glp", "at-", of(20)]],
    ["a Slack token", ["xo", "xb-", of(24)]],
    ["a Slack webhook", ["https://hooks.slack", ".com/services/T", of(8), "/B", of(8), "/", of(24)]],
    ["a Google key", ["AI", "za", of(35)]],
    ["a Stripe key", ["sk_", "test_", of(24)]],
    ["a SendGrid key", ["S", "G.", of(22), ".", of(43)]],
    ["an Anthropic key", ["sk-", "ant-", of(30)]],
    ["an OpenAI key", ["sk-", "proj-", of(48)]],
    ["a Hugging Face token", ["h", "f_", of(34)]],
    ["an npm token", ["np", "m_", of(36)]],
    ["a token of a package registry", ["//registry.example/:_auth", "Token=", of(20)]],
    ["a PyPI token", ["py", "pi-", of(60)]],
    ["a DigitalOcean token", ["dop_", "v1_", of(64, "0a1b")]],
    ["a Docker token", ["dckr_", "pat_", of(27)]],
  ])("a file with %s stays home", (what, parts) => {
    expect(secretByContent(Buffer.from(`before ${parts.join("")} after\n`))).toBe(`it holds ${what}`);
  });

  test.each([
    ["a name of a variable", "//registry.example/:_authToken=${NPM_TOKEN}"],
    ["a public key", "-----BEGIN PUBLIC KEY-----"],
    ["the word of a prefix", "sk_test_key and hf_model and SG.short"],
    ["a long hash", of(64, "0a1b")],
    ["a binary file", `\0${["gh", "p_", of(36)].join("")}`],
  ])("%s is ordinary", (_, text) => {
    expect(secretByContent(Buffer.from(text))).toBeUndefined();
  });

  test("a megabyte of any beginning is read in well under a second", () => {
    for (const beginning of [
      "AccountKey=",
      "aws_secret_access_key ",
      "_authToken ",
      "xoxb-",
      "sk-",
      "SG.aaaaaaaaaaaaaaaa",
    ]) {
      const text = Buffer.from(beginning.repeat(Math.floor((1024 * 1024) / beginning.length)));
      const startedAt = process.cpuUsage();
      secretByContent(text);
      expect(process.cpuUsage(startedAt).user / 1e6).toBeLessThan(2);
    }
  });
});
