import { createHmac } from "node:crypto";
import type { ConfigOverrides } from "../../src/config/config.ts";
import type { Exchange } from "../support/loopback-server.ts";
import { leadNamesHere, listen, ok, runWith } from "./setting-place.ts";

const jira = { email: "ops@example.org", apiToken: "jira-token-0123", projectKey: "OPS" };
const github = { repository: "acme/one", token: "github-token-0123" };
const secret = "a-shared-secret-of-some-length";

/** The request that the tracker gets when a session needs help. */
async function posted(
  settings: (url: string) => ConfigOverrides,
  answer: unknown,
): Promise<Exchange | undefined> {
  const tracker = await listen(({ method, path }) =>
    ok(method === "GET" ? [] : path.endsWith("/search/jql") ? { issues: [] } : answer),
  );
  await runWith(settings(tracker.url), () => Promise.reject(new Error("not good enough")));
  return tracker.requests.at(-1);
}

type Given<T> = Partial<T> & { readonly path?: string };

/** `path`: of the site, after the host. */
export async function seenByJira({ path = "", ...given }: Given<typeof jira>) {
  const asked = await posted((url) => ({ jira: { baseUrl: url + path, ...jira, ...given } }), {
    key: "OPS-1",
  });
  const [, credentials = ""] = String(asked?.headers["authorization"]).split(" ");
  const [email, apiToken] = Buffer.from(credentials, "base64").toString().split(":");
  const { fields } = JSON.parse(asked?.body ?? "{}") as { fields?: { project: { key: string } } };
  return { path: asked?.path, email, apiToken, project: fields?.project.key };
}

export async function seenByGithub({ path = "", ...given }: Given<typeof github>) {
  const issue = { number: 1, html_url: "https://github.com/acme/one/issues/1" };
  const asked = await posted((url) => ({ github: { apiUrl: url + path, ...github, ...given } }), issue);
  return { path: asked?.path, authorization: asked?.headers["authorization"] };
}

export async function seenByWebhook(given: { path?: string; secret?: string; allowInternal?: boolean }) {
  const { path = "/hook", ...rest } = given;
  const asked = await posted(
    (url) => ({ webhook: { url: url + path, secret, allowInternal: true, ...rest } }),
    {},
  );
  return { path: asked?.path, signedWith: (key: string) => asked !== undefined && isSigned(asked, key) };
}

/** Uses a host name that resolves to this machine, because an address in the setting is always allowed. */
export async function refusesName(settings: (url: string) => ConfigOverrides): Promise<boolean> {
  leadNamesHere();
  const { port } = await listen(() => ok({}));
  const overrides = settings(`https://tracker.example.org:${port}`);
  const { notices } = await runWith(overrides, () => Promise.reject(new Error("not good enough")));
  return notices.some((notice) => notice.includes("allowInternal"));
}

export const named = {
  jira: (baseUrl: string, allowInternal: boolean) => ({ jira: { ...jira, baseUrl, allowInternal } }),
  github: (apiUrl: string, allowInternal: boolean) => ({ github: { ...github, apiUrl, allowInternal } }),
};

function isSigned({ headers, body }: Exchange, key: string): boolean {
  const [, seconds, signature] = /^t=(\d+),v1=(\w+)$/.exec(String(headers["maestro-signature"])) ?? [];
  return createHmac("sha256", key).update(`${seconds}.${body}`).digest("hex") === signature;
}
