import { fieldProblems, jiraAccount, readFields } from "./loopback-jira-fields.ts";
import { type Answer, type Exchange, LoopbackServer, newSwitches, type Switches } from "./loopback-server.ts";

export { jiraAccount };

export const createPath = "/rest/api/3/issue";
export const searchPath = "/rest/api/3/search/jql";

export interface JiraIssue {
  readonly id: string;
  readonly key: string;
  readonly createdAt: number;
  readonly fields: {
    readonly summary: string;
    readonly labels: readonly string[];
    readonly issuetype: { readonly name: string };
    readonly description: unknown;
  };
}

export interface JiraSwitches extends Switches {
  /** The search lags by this time. */
  searchLagMs: number;
  /** As with an expired token: the search answers like to an anonymous user. */
  searchAsNobody: boolean;
}

/** The part of Jira Cloud that tickets use, on a real socket. */
export class LoopbackJira {
  readonly issues: JiraIssue[] = [];
  readonly switches: JiraSwitches = { ...newSwitches(), searchLagMs: 0, searchAsNobody: false };
  readonly server = new LoopbackServer((exchange) => this.#handle(exchange), this.switches);
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  static async start(
    switches: Partial<JiraSwitches> = {},
    now: () => number = Date.now,
  ): Promise<LoopbackJira> {
    const jira = new LoopbackJira(now);
    Object.assign(jira.switches, switches);
    await jira.server.listen();
    return jira;
  }

  get options() {
    return { ...jiraAccount, baseUrl: this.server.url };
  }

  withLabel(label: string): readonly JiraIssue[] {
    return this.issues.filter(({ fields }) => fields.labels.includes(label));
  }

  #handle(exchange: Exchange): Answer {
    const { method, path } = exchange;
    if (path === "/loopback/log")
      return { status: 200, body: { issues: this.issues, requests: this.server.requests } };
    if (path === "/loopback/switches") {
      Object.assign(this.switches, JSON.parse(exchange.body));
      return { status: 200, body: {} };
    }
    if (path === "/rest/api/3/search")
      return refusal(410, [
        "The requested API has been removed. Please migrate to the /rest/api/3/search/jql API.",
      ]);
    const expected = `Basic ${Buffer.from(`${jiraAccount.email}:${jiraAccount.apiToken}`).toString("base64")}`;
    const known = exchange.headers.authorization === expected;
    if (path === createPath && method === "POST") return known ? this.#create(exchange) : unknownCaller;
    if (path === searchPath) return this.#search(exchange, known && !this.switches.searchAsNobody);
    return refusal(404, ["Oops, you've found a dead link."]);
  }

  #create({ body, headers }: Exchange): Answer {
    if (!String(headers["content-type"]).startsWith("application/json")) return refusal(415, []);
    const fields = readFields(body);
    if (fields === undefined)
      return refusal(400, ["Invalid request payload. Refer to the REST API documentation and try again."]);
    const errors = fieldProblems(fields);
    if (Object.keys(errors).length > 0) return refusal(400, [], errors);
    const number = this.issues.length + 1;
    const issue = { id: `${10_000 + number}`, key: `${jiraAccount.projectKey}-${number}` };
    this.issues.push({ ...issue, createdAt: this.#now(), fields: fields as unknown as JiraIssue["fields"] });
    return { status: 201, body: { ...issue, self: `${this.server.url}${createPath}/${issue.id}` } };
  }

  #search({ method, body, query }: Exchange, known: boolean): Answer {
    const asked = method === "GET" ? { ...query, fields: query.fields?.split(",") } : JSON.parse(body);
    const jql = String(asked.jql ?? "");
    if (!/\blabels\s*=|\bproject\s*=/.test(jql))
      return refusal(400, [
        "Unbounded JQL queries are not allowed here. Please add a search restriction to your query.",
      ]);
    const project = /\bproject\s*=\s*"?(\w+)"?/.exec(jql)?.[1];
    if (!known) {
      const headers = { "x-seraph-loginreason": "AUTHENTICATED_FAILED" };
      return { status: 200, headers, body: { issues: [], isLast: true } };
    }
    if (project !== undefined && project !== jiraAccount.projectKey)
      return refusal(400, [`The value '${project}' does not exist for the field 'project'.`]);
    const label = /\blabels\s*=\s*"([^"]+)"/.exec(jql)?.[1] ?? "";
    const seen = this.withLabel(label).filter(
      ({ createdAt }) => createdAt + this.switches.searchLagMs <= this.#now(),
    );
    const issues = seen.toReversed().map(({ id, key, fields }) => {
      // Without a list of fields the search returns only the id.
      if (!Array.isArray(asked.fields)) return { id };
      return {
        expand: "",
        id,
        key,
        self: `${this.server.url}${createPath}/${id}`,
        fields: { labels: fields.labels },
      };
    });
    return { status: 200, body: { issues: issues.slice(0, Number(asked.maxResults ?? 50)), isLast: true } };
  }
}

const refusal = (
  status: number,
  errorMessages: readonly string[],
  errors: Record<string, string> = {},
): Answer => ({
  status,
  body: { errorMessages, errors },
});

const unknownCaller: Answer = {
  status: 401,
  headers: {
    "x-seraph-loginreason": "AUTHENTICATED_FAILED",
    "www-authenticate": 'OAuth realm="https%3A%2F%2Floopback"',
  },
  body: "Client must be authenticated to access this resource.",
};

/**
 * As a program: `node loopback-jira.ts '{"searchLagMs": 500}'` prints one line of JSON with its port and lives until its
 * standard input ends, so that it never outlives its parent. GET /loopback/log, POST /loopback/switches.
 */
if (import.meta.main) {
  const jira = await LoopbackJira.start(JSON.parse(process.argv[2] ?? "{}"));
  console.log(JSON.stringify({ port: jira.server.port }));
  process.stdin.resume().on("end", () => process.exit(0));
}
