import { advise } from "../domain/advice.ts";
import { type Attachment, checkAttachments } from "../domain/attachment.ts";
import { canonicalJson } from "../domain/canonical.ts";
import type { DeliveryOrder } from "../domain/delivery-order.ts";
import { SessionConflict } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import type { Direction, GivenPhase, Source } from "../journal/journal.ts";
import { attach, refuseBlindModels } from "../run/acts/attach.ts";
import {
  type CreatedSession,
  checkBrief,
  createSession,
  type FirstDriver,
} from "../run/acts/create-session.ts";
import { giveAll } from "../run/acts/phase-edit.ts";
import { type ReadSource, readSource, sourceNotices, sourceOf } from "../run/acts/read-source.ts";
import { phasesOfStart } from "../run/direction.ts";
import { refuseUnconfined } from "../run/programs/refuse-unconfined.ts";
import { toBudget } from "../run/spending.ts";
import { readState } from "../store/session-journal.ts";
import type { SessionRecord } from "../store/store.ts";
import { Uploads } from "../store/uploads.ts";
import type { Team } from "../team/define.ts";
import { integrationProblems, refuseBlocking } from "../team/definition/integration.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";
import type { CreateOptions, StartOptions } from "./options.ts";
import type { Services } from "./services.ts";
import { teamForBrief } from "./session-team.ts";

/** Creates a session for the brief, with the part of the team that it needs. With a known key, returns that session. */
export async function createForBrief(
  team: Team,
  { given = {}, budget, attachments, source: wanted, upload, deliver, ...brief }: CreateOptions,
  driver: FirstDriver,
  /** How far the caller will drive the session. An impossible direction is refused before the session exists. */
  direction: Direction,
  services: Services,
): Promise<CreatedSession> {
  const { store, lost, artifacts } = services;
  const { key, teamFile } = brief;
  checkBrief(brief.brief, key);
  const model = brief.model ?? services.model;
  const known =
    key === undefined ? undefined : ((await store.findSession(key)) ?? (await lost.bringBackByKey(key)));
  const isKnown = known !== undefined && known.key === key;
  // A session is planned once.
  const planned = isKnown ? { team, decisions: [] } : await teamForBrief(team, brief.brief);
  const runs = isKnown ? [] : phasesOfStart(planned.team, direction, Object.keys(given));
  checkIntegration(planned.team, services.onNotice);
  if (driver.kind !== "none") await refuseUnconfined(runs, services.sandbox);
  const isOwn = wanted === undefined && upload === undefined && team.definition.source !== undefined;
  // The repository has changed since, and the session keeps the one that it began with.
  const read =
    isKnown && isOwn
      ? { source: (await readState(store, known.id)).created.source, artifacts: [] }
      : upload === undefined
        ? await readNow(wanted, planned.team, { teamFile, known: isKnown ? known : undefined }, services)
        : await new Uploads(services.stateDirectory).find(upload, services.clock.now());
  const attached = await attachedTo(isKnown ? known : undefined, attachments, services);
  if (!isKnown) refuseBlindModels(planned.team.definition, model, attached);
  if (!isKnown) await checkOrders(planned.team, deliver, { source: read?.source, key }, services);
  const origin = isKnown ? {} : await giveAll(planned.team.definition, given, artifacts, read?.source);
  if (read?.source !== undefined && !isKnown)
    for (const text of sourceNotices(read.source)) services.onNotice(text);
  const created = await createSession(
    planned.team,
    {
      brief: brief.brief,
      ...(key !== undefined && { key }),
      ...(teamFile !== undefined && { teamFile }),
      ...(model !== undefined && { model }),
      queue: brief.queue,
      priority: brief.priority,
    },
    driver,
    {
      ...origin,
      ...(read?.source !== undefined && { source: read.source }),
      attachments: attached,
      artifacts: [
        ...(origin.artifacts ?? []),
        ...(read?.artifacts ?? []),
        ...attached.map(({ sha256 }) => sha256),
      ],
      decisions: planned.decisions,
      ...(budget !== undefined && { budget: toBudget(budget) }),
    },
    services,
  );
  if (!created.isNew && Object.keys(given).length > 0)
    await refuseOtherGifts(created.session, given, services);
  return created;
}

/** A caller who names a session by its key need not send its attachments again. */
async function attachedTo(
  known: SessionRecord | undefined,
  given: CreateOptions["attachments"],
  { store, artifacts, stateDirectory, clock }: Services,
): Promise<readonly Attachment[]> {
  if (given === undefined)
    return known === undefined ? [] : ((await readState(store, known.id)).created.attachments ?? []);
  const uploads = new Uploads(stateDirectory);
  const all: Attachment[] = [];
  for (const each of given)
    all.push(
      "upload" in each
        ? await uploads.findAttachment(each.upload, clock.now())
        : await attach(each, artifacts),
    );
  checkAttachments(all);
  return all;
}

async function readNow(
  wanted: CreateOptions["source"],
  { definition }: Team,
  { teamFile, known }: { readonly teamFile: string | undefined; readonly known: SessionRecord | undefined },
  services: Services,
): Promise<ReadSource | undefined> {
  const { artifacts, stateDirectory, onNotice } = services;
  const source = await sourceOf(wanted, definition, teamFile);
  if (source === undefined) return undefined;
  const read = await readSource(source, { artifacts, stateDirectory, onProgress: onNotice });
  if (known === undefined) return read;
  const { asBegun } = await import("./same-files.ts");
  return asBegun(known, read, services);
}

/** The team's own order is for sessions on a repository only. */
async function checkOrders(
  { definition }: Team,
  deliver: DeliveryOrder | undefined,
  start: { readonly source: Source | undefined; readonly key: string | undefined },
  services: Pick<Services, "github" | "stateDirectory">,
): Promise<void> {
  const own = start.source?.git === undefined ? {} : definition.deliver;
  if (own === undefined && deliver === undefined) return;
  const { checkOrder } = await import("../run/acts/check-order.ts");
  await checkOrder({ ...own, ...deliver }, start, services);
}

/** Reports contracts that do not fit together before anything is paid, and refuses those that no run can fulfill. */
function checkIntegration({ definition }: Team, notice: (text: string) => void): void {
  refuseBlocking(definition);
  for (const { message } of integrationProblems(definition)) notice(message);
}

/** Given phases that differ would be ignored if the key exists, so they are refused. */
async function refuseOtherGifts(
  { id, key }: SessionRecord,
  given: NonNullable<StartOptions["given"]>,
  { store, artifacts }: Pick<Services, "store" | "artifacts">,
): Promise<void> {
  const { begun } = await readState(store, id);
  const { given: wanted = [] } = await giveAll(recordedDefinition(begun.definition), given, artifacts);
  if (textOf(wanted) === textOf(begun.given ?? [])) return;
  throw new SessionConflict(`The key "${key}" belongs to session ${id}, which has other given phases.`, {
    details: { key, session: id },
    advice: [
      advise("Use another key."),
      advise("Or edit what it was given", "fork", id, "--at", "<phase>", "--edit", "<phase>=<file>"),
    ],
  });
}

/** The origin of a given phase does not matter. */
const textOf = (given: readonly GivenPhase[]): string =>
  canonicalJson(given.map((gift) => ({ ...gift, origin: "" })) as unknown as Json);
