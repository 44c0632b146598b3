/** The project the demo's team builds: a URL shortener with tests that really run. */
export const projectFiles = {
  "docs/requirements.md": `# Requirements

1. A long URL gets a short code; the same URL gets the same code.
2. A code leads back to its URL; an unknown code leads nowhere.
3. Only http and https URLs are taken.
`,
  "docs/design.md": `# Design

- \`src/code.mjs\` makes codes from content, so that nothing has to be counted or locked.
- \`src/store.mjs\` remembers them; \`src/server.mjs\` speaks HTTP.

Rejected: counters (they tell how many there are) and random codes (the same URL would get many).
`,
  "src/code.mjs": `import { createHash } from "node:crypto";

export function codeOf(url) {
  if (!/^https?:\\/\\//.test(url)) throw new TypeError("only http and https URLs can be shortened");
  return createHash("sha256").update(url).digest("base64url").slice(0, 7);
}
`,
  "src/store.mjs": `import { codeOf } from "./code.mjs";

export class Store {
  #urls = new Map();

  add(url) {
    const code = codeOf(url);
    this.#urls.set(code, url);
    return code;
  }

  find(code) {
    return this.#urls.get(code);
  }
}
`,
  "src/server.mjs": `import { createServer } from "node:http";
import { Store } from "./store.mjs";

export function shortener(store = new Store()) {
  return createServer(async (request, response) => {
    if (request.method === "POST") {
      let url = "";
      for await (const chunk of request) url += chunk;
      try {
        response.writeHead(201).end(store.add(url));
      } catch (error) {
        response.writeHead(400).end(error.message);
      }
      return;
    }
    const url = store.find(request.url.slice(1));
    if (url === undefined) response.writeHead(404).end("no such code");
    else response.writeHead(302, { location: url }).end();
  });
}
`,
  "README.md": `# URL shortener

    node -e 'import("./src/server.mjs").then((m) => m.shortener().listen(8080, "127.0.0.1"))'
    curl -d https://example.org/a/long/one http://127.0.0.1:8080/

Tests: \`node --test\`
`,
  "test/shortener.test.mjs": `import assert from "node:assert/strict";
import { once } from "node:events";
import test from "node:test";
import { codeOf } from "../src/code.mjs";
import { shortener } from "../src/server.mjs";

test("the same URL gets the same code", () => {
  assert.equal(codeOf("https://example.org/"), codeOf("https://example.org/"));
});

test("only http and https URLs are taken", () => {
  assert.throws(() => codeOf("javascript:alert(1)"), TypeError);
});

test("a code leads back to its URL, an unknown one nowhere", async () => {
  const server = shortener().listen(0, "127.0.0.1");
  await once(server, "listening");
  const base = \`http://127.0.0.1:\${server.address().port}/\`;
  try {
    const code = await (await fetch(base, { method: "POST", body: "https://example.org/long" })).text();
    const found = await fetch(base + code, { redirect: "manual" });
    assert.equal(found.status, 302);
    assert.equal(found.headers.get("location"), "https://example.org/long");
    assert.equal((await fetch(base + "unknown")).status, 404);
  } finally {
    server.close();
  }
});
`,
} as const;
