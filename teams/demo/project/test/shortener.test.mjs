import assert from "node:assert/strict";
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
  const base = `http://127.0.0.1:${server.address().port}/`;
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
