import { type Answer, type Exchange, LoopbackServer } from "./loopback-server.ts";

export const githubAccount = { repository: "acme/night-shift", token: "github-token-0123456789" };
const repositoryPath = `/repos/${githubAccount.repository}`;
export const pullsPath = `${repositoryPath}/pulls`;
export const issuesPath = `/repos/${githubAccount.repository}/issues`;

export interface GithubIssue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly labels: readonly { readonly name: string }[];
  readonly html_url: string;
  readonly state: "open" | "closed";
  readonly pull_request?: object;
}

export interface GithubPullRequest {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly head: { readonly ref: string; readonly sha: string };
  readonly base: { readonly ref: string };
  readonly html_url: string;
  readonly state: "open" | "closed";
}

/** The part of GitHub's REST API that tickets and deliveries use, on a real socket. */
export class LoopbackGithub {
  readonly issues: GithubIssue[] = [];
  readonly pulls: GithubPullRequest[] = [];
  /** The commit that a branch has on GitHub; undefined where it was not pushed. */
  commitOf: (branch: string) => string | undefined = () => "0".repeat(40);
  readonly server = new LoopbackServer((exchange) => this.#handle(exchange));
  /** The list of issues lags by this time. */
  listLagMs = 0;
  readonly #createdAt = new Map<number, number>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  static async start(): Promise<LoopbackGithub> {
    const github = new LoopbackGithub();
    await github.server.listen();
    return github;
  }

  get options() {
    return { ...githubAccount, apiUrl: this.server.url };
  }

  add(issue: Partial<GithubIssue> & { readonly labels: GithubIssue["labels"] }): GithubIssue {
    const number = this.issues.length + 1;
    const html_url = `https://github.com/${githubAccount.repository}/issues/${number}`;
    const whole: GithubIssue = { number, title: "", body: "", html_url, state: "open", ...issue };
    this.issues.push(whole);
    this.#createdAt.set(number, this.#now());
    return whole;
  }

  #handle({ method, path, headers, query, body }: Exchange): Answer {
    if (headers["user-agent"] === undefined)
      return problem(403, "Request forbidden by administrative rules.");
    if (headers.authorization !== `Bearer ${githubAccount.token}`) return problem(401, "Bad credentials");
    if (path === repositoryPath) return { status: 200, body: { default_branch: "trunk" } };
    if (path === pullsPath) return method === "GET" ? this.#findPulls(query) : this.#makePull(body);
    if (path !== issuesPath) return problem(404, "Not Found");
    if (method === "GET") {
      const state = query.state ?? "open";
      const labels = (query.labels ?? "").split(",").filter((label) => label !== "");
      const seen = this.issues.filter(
        (issue) =>
          (state === "all" || issue.state === state) &&
          (this.#createdAt.get(issue.number) ?? 0) + this.listLagMs <= this.#now() &&
          labels.every((label) => issue.labels.some(({ name }) => name === label)),
      );
      return { status: 200, body: seen.toReversed().slice(0, Number(query.per_page ?? 30)) };
    }
    const asked = JSON.parse(body) as { title?: string; body?: string; labels?: string[] };
    if (!asked.title) return invalid({ resource: "Issue", code: "missing_field", field: "title" });
    if ((asked.body ?? "").length > 65_536)
      return invalid({
        resource: "Issue",
        code: "custom",
        field: "body",
        message: "body is too long (maximum is 65536 characters)",
      });
    const labels = (asked.labels ?? []).map((name) => ({ name }));
    return { status: 201, body: this.add({ title: asked.title, body: asked.body ?? "", labels }) };
  }

  #findPulls({ head = "", state = "open" }: Exchange["query"]): Answer {
    const branch = head.slice(head.indexOf(":") + 1);
    const seen = this.pulls.filter(
      (pull) => pull.head.ref === branch && (state === "all" || pull.state === state),
    );
    return { status: 200, body: seen.toReversed() };
  }

  #makePull(body: string): Answer {
    const { title, body: text, head, base } = JSON.parse(body) as AskedPull;
    const sha = this.commitOf(head);
    if (sha === undefined) return invalid({ resource: "PullRequest", code: "invalid", field: "head" });
    if (this.pulls.some((pull) => pull.head.ref === head && pull.state === "open"))
      return invalid({ message: `A pull request already exists for acme:${head}.` });
    const number = this.pulls.length + 1;
    const html_url = `https://github.com/${githubAccount.repository}/pull/${number}`;
    const pull = {
      number,
      title,
      body: text,
      head: { ref: head, sha },
      base: { ref: base },
      html_url,
    } as const;
    this.pulls.push({ ...pull, state: "open" });
    return { status: 201, body: { ...pull, state: "open" } };
  }
}

interface AskedPull {
  readonly title: string;
  readonly body: string;
  readonly head: string;
  readonly base: string;
}

const problem = (status: number, message: string): Answer => ({
  status,
  body: { message, documentation_url: "https://docs.github.com/rest" },
});

const invalid = (error: object): Answer => ({
  status: 422,
  body: { message: "Validation Failed", errors: [error], documentation_url: "https://docs.github.com/rest" },
});
