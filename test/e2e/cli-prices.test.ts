import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { findProvider } from "@pydantic/genai-prices";
import { expect, onTestFinished, test } from "vitest";
import { begin, maestro, type Place, place } from "./support/packed.ts";

interface Table {
  id: string;
  models: { id: string; match: object; prices: Record<string, unknown> }[];
}

/** As the maker publishes it, with one more model. */
function table(more: Record<string, unknown> = { input_mtok: 7, output_mtok: 21 }): Table[] {
  const tables = ["anthropic", "openai"].map((providerId) => structuredClone(findProvider({ providerId })));
  const found = tables as unknown as Table[];
  found[0]?.models.unshift({ id: "claude-brand-new", match: { equals: "claude-brand-new" }, prices: more });
  return found;
}

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function file(at: Place, content: unknown): string {
  const path = join(at.folder, "data.json");
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

async function listed(at: Place, match = "claude-brand-new") {
  const { stdout } = await maestro(at, "prices", "--match", match, "--json");
  return JSON.parse(stdout) as {
    sources: { kind: string; version: string; from?: string }[];
    models: { model: string; version: string; input: number }[];
  };
}

const update = (at: Place, ...args: string[]) => maestro(at, "prices", "update", ...args);

test("prices are updated from a server, stand in the state directory, and are listed with their version", async () => {
  const at = place();
  const before = await listed(at, "claude-sonnet-4-5");
  expect(before.sources.map(({ kind }) => kind)).toEqual(["installed"]);
  expect((await listed(at)).models).toEqual([]);
  const url = await listen((_, response) => response.end(JSON.stringify(table())));
  const { code, stdout } = await update(at, "--from", `${url}/data.json`, "--json");
  expect(code).toBe(0);
  const done = JSON.parse(stdout) as {
    version: string;
    added: string[];
    changed: string[];
    missing: string[];
  };
  expect(done).toMatchObject({
    from: `${url}/data.json`,
    added: ["anthropic/claude-brand-new"],
    changed: [],
  });
  expect(done.missing, "of other providers").toContain("google/gemini-2.5-pro");
  const { sources, models } = await listed(at);
  expect(sources[0]).toMatchObject({ kind: "updated", version: done.version, from: `${url}/data.json` });
  expect(models).toMatchObject([{ model: "anthropic/claude-brand-new", version: done.version, input: 7 }]);
  const google = await listed(at, "google/gemini-2.5-pro");
  expect(google.models[0]?.version).toBe(before.sources[0]?.version);
  const shown = await maestro(at, "prices");
  expect(shown.stdout).toContain(done.version);
});

test("configured prices count before updated ones, and usage names the version that priced each call", async () => {
  const at = place({ MAESTRO_PRICES: JSON.stringify({ simulated: { input: 2, output: 4 } }) });
  expect((await update(at, "--from", file(at, table()))).code).toBe(0);
  await maestro(at, "init", "--yes", "--name", "hello", "--phases", "greeting");
  expect((await maestro(at, "run", "Hello", "--team", "hello.yaml")).code).toBe(0);
  const usage = JSON.parse((await maestro(at, "usage", "--by", "model", "--json")).stdout) as {
    total: { prices: string[] };
    rows: { name: string; prices: string[] }[];
  };
  expect(usage.total.prices).toEqual([expect.stringMatching(/^config:[0-9a-f]{12}$/)]);
  expect(usage.rows[0]?.prices).toEqual(usage.total.prices);
  const [head, row] = (await maestro(at, "usage", "--by", "model", "--csv")).stdout.split("\r\n");
  expect([head?.split(",").at(-1), row?.split(",").at(-1)]).toEqual(["prices", usage.total.prices[0]]);
});

test.each([
  [
    "a negative price",
    table({ input_mtok: -7, output_mtok: 1 }),
    "anthropic/claude-brand-new: input_mtok is -7",
  ],
  ["an absurd price", table({ input_mtok: 7e9, output_mtok: 1 }), "input_mtok is 7000000000"],
  ["no JSON", "<html>", "it is not JSON"],
  ["no table of prices", { hello: 1 }, "it is not a list of providers"],
  ["other providers only", [{ ...table()[0], id: "acme" }], "no model of a provider that Maestro knows"],
])("a table with %s is refused whole, and the prices in use stay", async (_, content, why) => {
  const at = place();
  await update(at, "--from", file(at, table()));
  const kept = readFileSync(join(at.folder, "state", "prices.json"), "utf8");
  const { code, stderr } = await update(at, "--from", file(at, content));
  expect(code).toBe(2);
  expect(stderr).toContain(why);
  expect(stderr).toContain("stay as they are");
  expect(readFileSync(join(at.folder, "state", "prices.json"), "utf8")).toBe(kept);
});

test("a price that falls to almost nothing is refused, unless a person says that it is right", async () => {
  const at = place();
  const free = table();
  const sonnet = free[0]?.models.find(({ id }) => id === "claude-sonnet-4-5");
  if (sonnet !== undefined) sonnet.prices = { input_mtok: 0, output_mtok: 0 };
  const { code, stderr } = await update(at, "--from", file(at, free));
  expect(code).toBe(2);
  expect(stderr).toContain(
    "1 models cost less than a hundredth of what they did: anthropic/claude-sonnet-4-5",
  );
  expect((await update(at, "--from", file(at, free), "--allow-free")).code).toBe(0);
});

test("without a network the error says so, and what to do", async () => {
  const at = place();
  const { code, stderr } = await update(at, "--from", "https://prices.invalid/data.json");
  expect(code).toBe(3);
  expect(stderr).toMatch(
    /could not be downloaded from https:\/\/prices\.invalid\/data\.json: (?:ENOTFOUND|EAI_AGAIN)/,
  );
  expect(stderr).toContain("prices update --from");
  expect((await listed(at)).sources.map(({ kind }) => kind)).toEqual(["installed"]);
});

test.each<[string, RequestListener, string]>([
  ["answers with an error", (_, response) => response.writeHead(503).end(), "answered 503"],
  [
    "redirects for ever",
    (_, response) => response.writeHead(302, { location: "/again" }).end(),
    "redirected more than 3 times",
  ],
  [
    "redirects to plain http elsewhere",
    (_, response) => response.writeHead(302, { location: "http://prices.example/" }).end(),
    "https address",
  ],
  [
    "sends without end",
    (_, response) => {
      const chunk = Buffer.alloc(1024 * 1024, 32);
      const send = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", send);
      send();
    },
    "larger than 16777216 bytes",
  ],
  [
    "breaks off",
    (_, response) =>
      response.writeHead(200, { "content-length": "999" }).write("[", () => response.destroy()),
    "could not be downloaded",
  ],
])("a server that %s changes nothing", async (_, handle, why) => {
  const at = place();
  const { code, stderr } = await update(at, "--from", await listen(handle));
  expect(code).not.toBe(0);
  expect(stderr).toContain(why);
  expect((await listed(at)).sources.map(({ kind }) => kind)).toEqual(["installed"]);
});

test.each(["http://prices.example/data.json", "https://me:secret@prices.example/", "ftp://prices.example/x"])(
  "%s is not asked",
  async (from) => {
    const { code, stderr } = await update(place(), "--from", from);
    expect(code).toBe(2);
    expect(stderr).toContain("https address without a user name");
    expect(stderr).not.toContain("secret");
  },
);

test("a damaged file of prices is named by every command that needs it, and updating replaces it", async () => {
  const at = place();
  await update(at, "--from", file(at, table()));
  const path = join(at.folder, "state", "prices.json");
  writeFileSync(path, readFileSync(path, "utf8").replace('"input_mtok":7', '"input_mtok":1'));
  const { code, stderr } = await maestro(at, "prices");
  expect(code).toBe(5);
  expect(stderr).toContain("its prices are not those of its version");
  const doctor = await begin(at, ["doctor", "--offline", "--json"]).finished;
  const { findings } = JSON.parse(doctor.stdout) as { findings: { what: string; state: string }[] };
  expect(findings.find(({ what }) => what === "prices")?.state).toBe("wrong");
  expect((await update(at, "--from", file(at, table()))).code).toBe(0);
  expect((await maestro(at, "prices")).code).toBe(0);
});
