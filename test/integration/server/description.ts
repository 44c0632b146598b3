import type { Json } from "../../../src/domain/json.ts";
import { describeApi } from "../../../src/server/openapi.ts";
import type { App } from "../../../src/server/routes/route.ts";
import { validateJson } from "../../../src/workspace/json-schema.ts";

interface Described {
  readonly content?: Readonly<Record<string, { readonly schema: Json }>>;
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Described>> }>>>
  >;
  readonly components: { readonly schemas: Json };
}

interface Operation {
  /** As in the document: `get /v1/sessions/{id}`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly pattern: RegExp;
  readonly responses: Readonly<Record<string, Described>>;
}

/** Compares the answers of a server with its OpenAPI document. */
export class Description {
  readonly operations: readonly Operation[];
  readonly #schemas: Json;

  constructor(app: App) {
    const document = JSON.parse(
      JSON.stringify(describeApi(app, "0.0.0-test")).replaceAll("#/components/schemas/", "#/$defs/"),
    ) as Document;
    this.#schemas = document.components.schemas;
    this.operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => ({
        name: `${method} ${path}`,
        method: method.toUpperCase(),
        path,
        pattern: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
        responses,
      })),
    );
  }

  /** The described operation that answers this request. A fixed path comes before one with parameters. */
  find(method: string, path: string): Operation | undefined {
    const fits = this.operations.filter((each) => each.method === method && each.pattern.test(path));
    return fits.toSorted((a, b) => a.name.split("{").length - b.name.split("{").length)[0];
  }

  /** Where this answer differs from the document. */
  async differences({ responses }: Operation, response: Response): Promise<string[]> {
    const described = responses[response.status] ?? responses["default"];
    if (described === undefined) return [`${response.status} is not described`];
    const type = response.headers.get("content-type")?.split(";")[0];
    if (type === undefined)
      return described.content === undefined ? [] : ["it has no content type, but one is described"];
    const schema = described.content?.[type]?.schema;
    if (schema === undefined) return [`${response.status} with ${type} is not described`];
    if (!/^application\/(?:problem\+)?json$/.test(type)) return [];
    const sent = (await response.clone().json()) as Json;
    const whole = { $defs: this.#schemas, allOf: [schema] };
    return validateJson(whole, sent).map(({ pointer, message }) => `${pointer} ${message}`);
  }
}
