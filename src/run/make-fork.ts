import { type Amount, add, noAmount } from "../domain/budget.ts";
import { canonicalJson } from "../domain/canonical.ts";
import { SessionConflict } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Json } from "../domain/json.ts";
import {
  copiedEpoch,
  type ForkOrigin,
  type PaidAmount,
  type PersonaSpent,
  type PhaseContent,
} from "../journal/journal.ts";
import type { PersonaState, SessionState } from "../journal/session-state.ts";
import type { Blobs } from "../store/blobs.ts";
import type { RunSample } from "../store/reports.ts";
import { readState } from "../store/session-journal.ts";
import type { CopiedRow, SessionRecord, Store } from "../store/store.ts";
import type { Team } from "../team/define.ts";
import { type CreateParts, createSession } from "./create-session.ts";
import { checkFork, forkedRow } from "./fork.ts";
import { paidCalls } from "./paid-calls.ts";
import { editPhase, type PhaseEdit } from "./phase-edit.ts";

export interface ForkRequest {
  readonly at: string;
  readonly edits?: Readonly<Record<string, PhaseEdit>>;
  readonly fresh?: boolean;
  readonly model?: string;
  readonly key?: string;
}

/**
 * Creates a fork in one transaction: copies of its parent's rows, with their seq, and a row that sets it apart. It needs
 * its parent no longer, and nothing of it has run.
 */
export async function makeFork(
  parentId: SessionId,
  team: Team,
  request: ForkRequest,
  parts: CreateParts & { readonly artifacts: Blobs },
): Promise<SessionRecord> {
  const { store, artifacts } = parts;
  const { at, edits = {}, fresh = false, key } = request;
  const parent = await readState(store, parentId);
  const edited: PhaseContent[] = [];
  const stored: string[] = [];
  for (const [name, edit] of Object.entries(edits)) {
    const { content, artifacts: files } = await editPhase(team.definition, parent, name, edit, artifacts);
    edited.push(content);
    stored.push(...files);
  }
  const fork: ForkOrigin = { session: parentId, at, fresh, edited };
  checkFork(team.definition, parent, fork);
  const { brief, teamFile, decisions } = parent.created;
  const { given, budget } = parent.begun;
  const model = request.model ?? parent.created.model ?? team.definition.model ?? undefined;
  const forked = forkedRow(team.definition, parent, fork, await costOfPersonas(store, parent));
  const { session } = await createSession(
    team,
    {
      brief,
      ...(key !== undefined && { key }),
      ...(model !== undefined && { model }),
      ...(teamFile !== undefined && { teamFile }),
    },
    { kind: "none" },
    {
      fork,
      artifacts: stored,
      ...(given !== undefined && { given }),
      ...(budget !== undefined && { budget }),
      ...(decisions !== undefined && { decisions }),
      history: {
        copied: await rowsOf(store, parent, new Set([...forked.kept, ...forked.known])),
        appended: [forked],
        artifactsOf: parentId,
      },
    },
    parts,
  );
  if (key !== undefined) refuseOtherFork(session, fork, model, await readState(store, session.id));
  return session;
}

/** All rows of the parent but the first, without the steps of phases that the fork knows nothing of. */
async function rowsOf(store: Store, { id, head, phases, removed }: SessionState, known: ReadonlySet<string>) {
  const unknown = new Set(
    [...phases, ...removed].flatMap(([name, { personas }]) =>
      known.has(name)
        ? []
        : [...personas.values()].flatMap(({ attempts }) => attempts.map(({ started }) => started)),
    ),
  );
  const copied: CopiedRow[] = [];
  for await (const page of store.readJournal(id, 1)) {
    for (const { kind, attempt, occurrence, fingerprint, name, body, seq, at } of page) {
      if (seq > head.seq || (attempt !== null && unknown.has(attempt))) continue;
      copied.push({ kind, attempt, occurrence, fingerprint, name, body, seq, at, epoch: copiedEpoch });
    }
  }
  return copied;
}

/** What each persona's result cost the parent, with what the parent itself reused and did not pay. */
async function costOfPersonas(store: Store, parent: SessionState): Promise<readonly PersonaSpent[]> {
  const amounts = new Map<string, PaidAmount[]>();
  const count = ({ phase, persona, model, spent }: RunSample) => {
    const known = amounts.get(`${phase} ${persona}`) ?? [];
    known.push({ model, ...spent });
    amounts.set(`${phase} ${persona}`, known);
  };
  for await (const call of paidCalls(store, parent.id)) count(call);
  for (const reused of await store.reports.reused(parent.id)) count(reused);
  const costOf = (phase: string, persona: string, { result, attempts, candidate }: PersonaState) => {
    const worked = result !== undefined && attempts.length > 0;
    return (worked ? amounts.get(`${phase} ${persona}`) : candidate?.spent) ?? [];
  };
  return [...parent.phases, ...parent.removed].flatMap(([phase, { personas }]) =>
    [...personas].flatMap(([persona, known]) => {
      const spent = sumByModel(costOf(phase, persona, known));
      return spent.length === 0 ? [] : [{ phase, persona, amounts: spent }];
    }),
  );
}

function sumByModel(amounts: readonly PaidAmount[]): PaidAmount[] {
  return [...Map.groupBy(amounts, ({ model }) => model)].map(([model, calls]) => {
    const { tokens, microUsd } = calls.reduce<Amount>(add, noAmount);
    return { model, tokens, microUsd };
  });
}

/** A fork has the team and the brief of its parent, so these do not tell whether a key means the same work. */
function refuseOtherFork(
  { id, key }: SessionRecord,
  fork: ForkOrigin,
  model: string | undefined,
  { begun }: SessionState,
): void {
  const asText = (origin: ForkOrigin | undefined, chosen: string | undefined): string =>
    canonicalJson([origin ?? null, chosen ?? null] as unknown as Json);
  if (asText(begun.fork, begun.model) === asText(fork, model)) return;
  throw new SessionConflict(`The key "${key}" belongs to session ${id}, which is not this fork.`, {
    details: { key, session: id },
    advice: "Use another key for the fork.",
  });
}
