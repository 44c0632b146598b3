import { request } from "node:http";
import { expect, test } from "vitest";
import type { Json } from "../../../src/domain/json.ts";
import { validateJson } from "../../../src/workspace/json-schema.ts";
import { quickTeam, start, startServer, token, until } from "./support.ts";
import { reviewTeam } from "./teams.ts";

interface Document {
  readonly paths: Record<
    string,
    Record<string, { readonly requestBody?: { readonly required?: boolean } } | undefined>
  >;
  readonly components: { readonly schemas: Record<string, Json> };
}

test("a session that is sent fits its description in the document, with every null that it has", async () => {
  const server = await startServer({ teams: [quickTeam, reviewTeam] });
  server.drive();
  const { components } = await server.get<Document>("/openapi.json");
  const schemas = JSON.parse(
    JSON.stringify(components.schemas).replaceAll("#/components/schemas/", "#/$defs/"),
  );
  const completed = (await start(server)).id;
  await until(server, completed, "completed");
  const review = (await start(server, { team: "review" })).id;
  await until(server, review, "parked");
  for (const id of [completed, review]) {
    const sent = await server.get<Json>(`/v1/sessions/${id}`);
    expect(sent).toMatchObject({ phases: [{ personas: [{ activity: null, held: null }] }, {}] });
    expect(validateJson({ $ref: "#/$defs/Session", $defs: schemas }, sent)).toEqual([]);
  }
});

test("no description in the document says that a value may be null and demands an object beside it", async () => {
  const server = await startServer();
  const text = JSON.stringify(await server.get("/openapi.json"));
  expect(text.match(/.{0,60}"type":\["object","null"\]\}\]/g)).toBeNull();
});

/** How clients send an empty body. `fetch` of Node would add or leave out headers by itself. */
const empty: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ["no header", {}],
  ["a length of zero", { "content-length": "0" }],
  ["the type of JSON", { "content-type": "application/json", "content-length": "0" }],
  [
    "the type of a form, as curl -d ''",
    { "content-type": "application/x-www-form-urlencoded", "content-length": "0" },
  ],
  [
    "the type of a text, as fetch with an empty text",
    { "content-type": "text/plain;charset=UTF-8", "content-length": "0" },
  ],
  ["chunks, of which there are none", { "transfer-encoding": "chunked" }],
];

test.each(empty)("a body that may be left out may be empty, with %s", async (_, headers) => {
  const server = await startServer({ config: { server: { apiToken: token, port: 0 } } });
  const { paths } = await (await startServer()).get<Document>("/openapi.json");
  const { port } = await server.listen();
  const optional = Object.entries(paths).flatMap(([path, { post }]) =>
    post?.requestBody?.required === false
      ? [path.replaceAll(/\{seq\}/g, "1").replaceAll(/\{\w+\}/g, "none")]
      : [],
  );
  expect(optional.length).toBeGreaterThan(7);
  const posted = (path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const auth = { authorization: `Bearer ${token}`, ...headers };
      const sent = request({ host: "127.0.0.1", port, path, method: "POST", headers: auth }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.once("error", reject).end();
    });
  const statuses = await Promise.all(optional.map(async (path) => [path, await posted(path)]));
  // There is no session "none", and nothing to sign out of.
  expect(statuses.filter(([, status]) => ![200, 201, 204, 404].includes(Number(status)))).toEqual([]);
});
