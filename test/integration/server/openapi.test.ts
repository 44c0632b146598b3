import { expect, test } from "vitest";
import { startServer } from "./support.ts";

interface Operation {
  readonly operationId: string;
  readonly security?: unknown[];
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: object }> }>;
  readonly parameters?: { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: { readonly content: Record<string, unknown> };
}

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, object>; readonly securitySchemes: object };
  readonly security: unknown[];
}

/** As promised; a client is generated from exactly these names. */
const promised = [
  "post /v1/sessions",
  "post /v1/uploads",
  "get /v1/sessions",
  "get /v1/sessions/{id}",
  "get /v1/sessions/{id}/events",
  "get /v1/sessions/{id}/checkpoints",
  "post /v1/sessions/{id}/resume",
  "post /v1/sessions/{id}/pause",
  "post /v1/sessions/{id}/cancel",
  "post /v1/sessions/{id}/approve",
  "post /v1/sessions/{id}/reject",
  "post /v1/sessions/{id}/fork",
  "post /v1/sessions/{id}/phases/{phase}",
  "patch /v1/sessions/{id}/budgets",
  "get /v1/sessions/{id}/artifacts",
  "get /v1/sessions/{id}/artifacts/{sha256}",
  "get /v1/sessions/{id}/archive",
  "get /v1/sessions/{id}/diff",
  "get /v1/usage",
  "get /v1/events",
  "get /v1/status",
  "get /v1/breakers",
  "post /v1/breakers/{name}/reset",
  "get /v1/tickets",
  "get /healthz",
  "get /metrics",
  "get /openapi.json",
];

async function readDocument(): Promise<Document> {
  const server = await startServer();
  return server.get<Document>("/openapi.json");
}

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

test("every promised route is described, in OpenAPI 3.1, with one name of its own", async () => {
  const document = await readDocument();
  expect(document.openapi).toBe("3.1.0");
  const described = operationsOf(document).map(({ method, path }) => `${method} ${path}`);
  expect(described).toEqual(expect.arrayContaining(promised));
  const names = operationsOf(document).map(({ operation }) => operation.operationId);
  expect(new Set(names).size).toBe(names.length);
  expect(names.every((name) => /^[a-z][A-Za-z]+$/.test(name))).toBe(true);
});

test("nothing is answered that is not described, but for the page and its sign-in", async () => {
  const server = await startServer();
  const document = await server.get<Document>("/openapi.json");
  const described = operationsOf(document).map(({ method, path }) => `${method} ${path}`);
  const answered = server.app.routes
    .filter(({ method, path }) => method !== "ALL" && !path.includes("*"))
    .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
  expect([...new Set(answered)].filter((route) => !described.includes(route))).toEqual([
    "get /signed-out",
    "get /login",
  ]);
});

test("a generic client can follow every reference, and finds parameters, bodies, answers and errors typed", async () => {
  const document = await readDocument();
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
    ([, name]) => name ?? "",
  );
  expect(references.length).toBeGreaterThan(50);
  for (const name of references) expect(document.components.schemas).toHaveProperty(name);
  for (const { path, method, operation } of operationsOf(document)) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
    expect(new Set(declared.map(({ name }) => name)), `for ${path}`).toEqual(new Set(inPath));
    expect(declared.every(({ required }) => required === true)).toBe(true);
    const success = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
    expect(success.length, `${method} ${path}`).toBeGreaterThan(0);
    for (const [, { content }] of success)
      for (const { schema } of Object.values(content ?? {}))
        expect(Object.keys(schema).length).toBeGreaterThan(0);
  }
  const withErrors = operationsOf(document).filter(({ path }) => path !== "/healthz");
  for (const { operation } of withErrors)
    expect(operation.responses["default"]?.content).toHaveProperty(["application/problem+json"]);
  const withBody = operationsOf(document).filter(({ method }) => method !== "get" && method !== "delete");
  expect(withBody.length).toBeGreaterThan(8);
  for (const { operation, path } of withBody) {
    const types = Object.keys(operation.requestBody?.content ?? {});
    if (path === "/v1/uploads")
      expect(types).toEqual(expect.arrayContaining(["application/gzip", "application/zip"]));
    else expect(types).toEqual(["application/json"]);
  }
});

test("every route but /healthz says that it needs the token", async () => {
  const document = await readDocument();
  expect(document.security).toEqual([{ token: [] }]);
  expect(document.components.securitySchemes).toMatchObject({ token: { type: "http", scheme: "bearer" } });
  const open = operationsOf(document).filter(({ operation }) => operation.security?.length === 0);
  expect(open.map(({ path }) => path)).toEqual(["/healthz"]);
});
