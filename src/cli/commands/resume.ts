import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid, TeamChanged } from "../../domain/errors.ts";
import type { Maestro } from "../../index.ts";
import { sayDemands } from "../demands.ts";
import { type DriveOptions, drive } from "../drive.ts";
import { exitCodes } from "../exit-code.ts";
import { requireState } from "../open.ts";
import { checkOut } from "../out-folder.ts";
import { pathsOf, readEdits } from "../read-edit.ts";
import { proveFor, teamForSession } from "../team-of.ts";

export interface ResumeFlags extends DriveOptions {
  readonly edit?: readonly string[];
  readonly team?: string;
  readonly acceptChanges?: boolean;
  readonly note?: string;
  readonly trust?: boolean;
}

export async function resume(idOrKey: string, options: ResumeFlags): Promise<void> {
  const { model, ...others } = options;
  await checkOut(options.out);
  await requireState(options, idOrKey);
  await drive(
    others,
    async (maestro, ready) => {
      // This comes first: nothing of an import is loaded, asked or checked before a person trusts it.
      if (options.trust) await sayNewlyTrusted(maestro, idOrKey);
      await maestro.ensureTrusted(idOrKey, options);
      const edits = await readEdits(options.edit, () => pathsOf(maestro, idOrKey));
      const team = await teamForSession(maestro, idOrKey, options);
      // A completed phase calls no model again, unless it is edited or its team has changed.
      const isPlain = Object.keys(edits).length === 0 && !options.acceptChanges;
      await proveFor(maestro, idOrKey, team, options, (_, isDone) => !(isPlain && isDone));
      await ready((await maestro.find(idOrKey)).id);
      const session = await namingTeam(options.team, () =>
        maestro.resume(idOrKey, {
          ...(team !== undefined && { team }),
          ...(Object.keys(edits).length > 0 && { edits }),
          ...(options.acceptChanges && { acceptChanges: true }),
          ...(options.note !== undefined && { note: options.note }),
        }),
      );
      return { id: session.id, result: () => namingTeam(options.team, () => session.result()) };
    },
    model === undefined ? {} : { modelInstead: model },
  );
}

/** A person who trusts an import for the first time may not have seen its demands. */
async function sayNewlyTrusted(maestro: Maestro, idOrKey: string): Promise<void> {
  const { imported } = await maestro.show(idOrKey);
  if (imported?.trusted === false) sayDemands(await maestro.demands(idOrKey), { trusted: true });
}

/** Without --team the advised command would accept the recorded team and pay for its instructions. */
async function namingTeam<T>(typed: string | undefined, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (typed === undefined || !TeamChanged.is(error)) throw error;
    const { message, details, actions, cause } = error;
    throw new TeamChanged(message, {
      details,
      cause,
      advice: actions.map(({ text, command }) => ({
        text,
        command: command === null ? null : [...command, "--team", typed],
      })),
    });
  }
}

export async function phase(
  idOrKey: string,
  name: string,
  options: DriveOptions & { readonly team?: string },
): Promise<void> {
  const { model, ...others } = options;
  await checkOut(options.out);
  await requireState(options, idOrKey);
  let isDone = false;
  await drive(
    others,
    async (maestro, ready) => {
      await maestro.ensureTrusted(idOrKey);
      const { id, phases } = await maestro.show(idOrKey);
      refuseUnknown(name, phases);
      const team = await teamForSession(maestro, id, options);
      if (team !== undefined) maestro.register(team);
      await proveFor(maestro, id, team, options, (each, isDone) => each === name && !isDone);
      await ready(id);
      const result = namingTeam(options.team, () => maestro.executePhase(id, name)).then(async (ended) => {
        // An interrupt has closed it.
        const view = await maestro.show(id).catch(() => undefined);
        const { status = "pending", review } = view?.phases.find((phase) => phase.name === name) ?? {};
        isDone = ["completed", "reused"].includes(status) && review !== "awaiting";
        return ended;
      });
      result.catch(() => undefined);
      return { id, result: () => result };
    },
    { oneDocument: (ended) => ended, ...(model !== undefined && { modelInstead: model }) },
  );
  // Another branch may be parked, but the requested phase is done.
  if (isDone && process.exitCode === exitCodes.parked) process.exitCode = exitCodes.done;
}

function refuseUnknown(name: string, phases: readonly { readonly name: string }[]): void {
  const known = phases.map((known) => known.name);
  if (known.includes(name)) return;
  throw new InputInvalid(`There is no phase "${name}".${didYouMean(name, known)}`, {
    advice: `The phases are: ${known.join(", ")}.`,
  });
}
