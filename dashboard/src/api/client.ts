import { NoAnswer, readProblem } from "./api-error.ts";
import type * as api from "./types.ts";

export type Parameters = Readonly<Record<string, string | number | undefined>>;

/** "/v1/usage?by=model". Undefined and empty parameters are left out. */
export function withQuery(path: string, parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined && value !== "") query.set(name, String(value));
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

export const sessionPath = (id: string, rest = ""): string => `/v1/sessions/${encodeURIComponent(id)}${rest}`;

const personaPath = (id: string, phase: string, persona: string): string =>
  sessionPath(id, `/phases/${encodeURIComponent(phase)}/personas/${encodeURIComponent(persona)}`);

interface SessionsQuery {
  readonly status: string;
  readonly q?: string | undefined;
  readonly team?: string | undefined;
  readonly since?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number;
}

type Signal = AbortSignal | undefined;

/** Every route that the page uses, with its types. */
export const client = {
  sessions: (query: SessionsQuery, signal?: Signal) =>
    read<api.SessionsPage>(withQuery("/v1/sessions", { ...query }), signal),
  session: (id: string, signal?: Signal) => read<api.SessionView>(sessionPath(id), signal),
  checkpoints: (id: string, signal?: Signal) =>
    read<readonly api.CheckpointInfo[]>(sessionPath(id, "/checkpoints"), signal),
  journal: (
    id: string,
    query: { readonly before?: number | undefined; readonly limit: number; readonly show: api.JournalFilter },
    signal?: Signal,
  ) => read<api.JournalPage>(withQuery(sessionPath(id, "/events"), { ...query }), signal),
  persona: (id: string, phase: string, persona: string, signal?: Signal) =>
    read<api.PersonaDetail>(personaPath(id, phase, persona), signal),
  steps: (
    id: string,
    phase: string,
    persona: string,
    query: {
      readonly round?: number | undefined;
      readonly attempt?: number | undefined;
      readonly before?: number | undefined;
      readonly limit: number;
    },
    signal?: Signal,
  ) => read<api.StepsPage>(withQuery(`${personaPath(id, phase, persona)}/steps`, { ...query }), signal),
  transcript: (
    id: string,
    query: {
      readonly phase: string;
      readonly persona: string;
      readonly attempt: number;
      readonly after: number;
      readonly limit: number;
    },
    signal?: Signal,
  ) =>
    read<api.TranscriptPage>(
      withQuery(sessionPath(id, "/transcript"), { ...query, messages: "new" }),
      signal,
    ),
  team: (id: string, signal?: Signal) => read<api.TeamDefinition>(sessionPath(id, "/team"), signal),
  tree: (id: string, at: string | undefined, signal?: Signal) =>
    read<api.ArtifactTree>(withQuery(sessionPath(id, "/artifacts"), { at }), signal),
  blob: async (id: string, sha256: string, signal?: Signal): Promise<Uint8Array> => {
    const response = await request(blobPath(id, sha256), signalInit(signal), false);
    return new Uint8Array(await response.arrayBuffer());
  },
  changes: (id: string, phase: string | undefined, signal?: Signal) =>
    read<api.FileChanges>(diffPath(id, phase), signal),
  usage: (
    query: { readonly session?: string; readonly by: api.UsageBy; readonly since?: string },
    signal?: Signal,
  ) => read<api.UsageReport>(withQuery("/v1/usage", { ...query }), signal),
  status: (signal?: Signal) => read<api.ServerStatus>("/v1/status", signal),
  breakers: (signal?: Signal) => read<api.BreakersView>("/v1/breakers", signal),
  tickets: (signal?: Signal) => read<api.TicketsView>("/v1/tickets", signal),
  teams: (signal?: Signal) => read<api.TeamsView>("/v1/teams", signal),

  upload: async (archive: Blob): Promise<api.UploadView> => {
    const headers = { accept: "application/json", "content-type": "application/octet-stream" };
    const response = await request("/v1/uploads", { method: "POST", headers, body: archive }, true);
    return (await response.json()) as api.UploadView;
  },
  start: (body: api.StartRequest) => write<api.SessionRef>("POST", "/v1/sessions", body),
  resume: (id: string, body: api.ResumeRequest) => write<unknown>("POST", sessionPath(id, "/resume"), body),
  planResume: (id: string, body: api.ResumeRequest, signal?: Signal) =>
    write<api.Plan>("POST", sessionPath(id, "/resume"), { ...body, dryRun: true }, signal),
  fork: (id: string, body: api.ForkRequest) => write<api.SessionRef>("POST", sessionPath(id, "/fork"), body),
  planFork: (id: string, body: api.ForkRequest, signal?: Signal) =>
    write<api.Plan>("POST", sessionPath(id, "/fork"), { ...body, dryRun: true }, signal),
  pause: (id: string) => write<unknown>("POST", sessionPath(id, "/pause"), {}),
  cancel: (id: string) => write<unknown>("POST", sessionPath(id, "/cancel"), {}),
  approve: (id: string, body: api.ReviewRequest) => write<unknown>("POST", sessionPath(id, "/approve"), body),
  reject: (id: string, body: api.RejectRequest) => write<unknown>("POST", sessionPath(id, "/reject"), body),
  settle: (id: string, seq: number, body: api.SettleRequest) =>
    write<unknown>("POST", sessionPath(id, `/steps/${seq}/settle`), body),
  approveCall: (id: string, seq: number, body: api.ApproveCallRequest) =>
    write<unknown>("POST", sessionPath(id, `/calls/${seq}/approve`), body),
  rejectCall: (id: string, seq: number, body: api.RejectCallRequest) =>
    write<unknown>("POST", sessionPath(id, `/calls/${seq}/reject`), body),
  answerCall: (id: string, seq: number, body: api.AnswerRequest) =>
    write<unknown>("POST", sessionPath(id, `/calls/${seq}/answer`), body),
  raiseBudget: (id: string, body: api.BudgetRequest) =>
    write<unknown>("PATCH", sessionPath(id, "/budgets"), body),
  signOut: () => write<unknown>("POST", "/v1/sign-out", {}),
  resetBreaker: (name: string) =>
    write<unknown>("POST", `/v1/breakers/${encodeURIComponent(name)}/reset`, {}),
};

/** Also the address of "Download". */
export const blobPath = (id: string, sha256: string): string =>
  sessionPath(id, `/artifacts/${encodeURIComponent(sha256)}`);

/** The patch, or the changed files if JSON is requested. */
export const diffPath = (id: string, phase: string | undefined): string =>
  withQuery(sessionPath(id, "/diff"), { phase });

export const archivePath = (id: string, format: "zip" | "tar.gz", at: string): string =>
  withQuery(sessionPath(id, "/archive"), { format, at });

const signalInit = (signal: Signal): RequestInit => (signal === undefined ? {} : { signal });

async function read<T>(path: string, signal: Signal): Promise<T> {
  const response = await request(
    path,
    { headers: { accept: "application/json" }, ...signalInit(signal) },
    false,
  );
  return (await response.json()) as T;
}

async function write<T>(method: "POST" | "PATCH", path: string, body: unknown, signal?: Signal): Promise<T> {
  const headers = { accept: "application/json", "content-type": "application/json" };
  const init = { method, headers, body: JSON.stringify(body), ...signalInit(signal) };
  const response = await request(path, init, true);
  const text = await response.text();
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

async function request(path: string, init: RequestInit, changes: boolean): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new NoAnswer(changes, error);
  }
  if (!response.ok) throw await readProblem(response);
  return response;
}
