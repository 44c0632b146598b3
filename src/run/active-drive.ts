import { advise } from "../domain/advice.ts";
import { canonicalJson } from "../domain/canonical.ts";
import { SessionConflict } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Json } from "../domain/json.ts";
import type { ClaimCause, Direction } from "../journal/journal.ts";
import type { Claim } from "../store/journal.ts";
import type { Team } from "../team/define.ts";
import { Control } from "./control.ts";
import { isSameDirection, nextDirection } from "./direction.ts";
import type { Outcome } from "./driver.ts";
import type { Preparation } from "./prepare.ts";

/** A request to drive a session. */
export interface DriveRequest {
  readonly team: Team;
  readonly cause: ClaimCause;
  readonly preparation: Preparation;
  /** Called when nothing can be refused from here on. */
  readonly onAccepted?: () => void;
  /** The claim that the scheduler has begun for it. */
  readonly claim?: Promise<Claim>;
}

/** A running drive of this process. Later requests for the same session join it or wait for it. */
export class ActiveDrive {
  readonly control = new Control();
  readonly #id: SessionId;
  readonly #request: DriveRequest;
  readonly #directed = Promise.withResolvers<Direction | undefined>();
  /** Of the team, and of the team as it was planned. */
  readonly #fingerprints = new Set<string>();
  #outcome: Promise<Outcome> | undefined;

  constructor(id: SessionId, request: DriveRequest) {
    this.#id = id;
    this.#request = request;
    this.addTeam(request.team);
  }

  get outcome(): Promise<Outcome> {
    return this.#outcome as Promise<Outcome>;
  }

  begin(drive: () => Promise<Outcome>): Promise<Outcome> {
    this.#outcome = drive().finally(() => this.#directed.resolve(undefined));
    return this.#outcome;
  }

  addTeam({ fingerprint }: Team): void {
    this.#fingerprints.add(fingerprint);
  }

  /** The direction is recorded. */
  directed(direction: Direction): void {
    this.#directed.resolve(direction);
  }

  /**
   * The outcome of this drive, if it serves the request or if a later signal outranks the request. Undefined: this drive
   * is over and the request is driven on its own. A request that could come too late is refused at once.
   */
  async serve(request: DriveRequest): Promise<Outcome | undefined> {
    if (request.cause === "recovery") return this.outcome;
    const wasStopping = this.control.stopped !== undefined;
    if (!wasStopping) {
      const direction = await this.#directed.promise;
      if (direction !== undefined) {
        this.#refuseLate(request, direction);
        if (isSameDirection(nextDirection(direction, request.preparation.direction), direction))
          return this.outcome;
      }
    }
    const outcome = await this.outcome.catch(() => undefined);
    if (outcome === undefined || wasStopping) return undefined;
    // A later pause or close outranks the older request, and so does a session that needs a person.
    const isStopped = outcome.status === "parked" || outcome.status === "failed";
    const needsPerson = isStopped && outcome.elsewhere !== true;
    const isForOne = request.preparation.direction?.only !== undefined;
    return this.control.stopped !== undefined || (needsPerson && !isForOne) ? outcome : undefined;
  }

  /** It would apply only to phases that have not run yet, and which these are depends on timing. */
  #refuseLate(
    { team, preparation: { edits = {}, direction } }: DriveRequest,
    { pauseAfter }: Direction,
  ): void {
    const { preparation } = this.#request;
    const what =
      Object.keys(edits).length > 0 && !isSame(edits, preparation.edits ?? {})
        ? "an edit"
        : !this.#fingerprints.has(team.fingerprint)
          ? "a change of its team"
          : direction?.pauseAfter !== undefined && !isSame(direction.pauseAfter, pauseAfter ?? [])
            ? "other phases to pause after"
            : undefined;
    if (what === undefined) return;
    throw new SessionConflict(`Session ${this.#id} is running; ${what} would come too late.`, {
      details: { session: this.#id },
      advice: advise("Pause it first", "pause", this.#id),
    });
  }
}

const isSame = (one: unknown, other: unknown): boolean =>
  canonicalJson(one as Json) === canonicalJson(other as Json);
