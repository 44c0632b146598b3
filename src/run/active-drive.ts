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

/** What somebody wants of a session. */
export interface Asked {
  readonly team: Team;
  readonly cause: ClaimCause;
  readonly preparation: Preparation;
  /** Told when nothing of it can be refused any more. */
  readonly onAccepted?: () => void;
  /** The claim that the scheduler has under way for it. */
  readonly claim?: Promise<Claim>;
}

/** A drive of this process, for those who ask for something while it is under way. */
export class UnderWay {
  readonly control = new Control();
  readonly #id: SessionId;
  readonly #asked: Asked;
  readonly #directed = Promise.withResolvers<Direction | undefined>();
  /** Of the team, and of the part of it that was planned since. */
  readonly #fingerprints = new Set<string>();
  #outcome: Promise<Outcome> | undefined;

  constructor(id: SessionId, asked: Asked) {
    this.#id = id;
    this.#asked = asked;
    this.goesBy(asked.team);
  }

  get outcome(): Promise<Outcome> {
    return this.#outcome as Promise<Outcome>;
  }

  begin(drive: () => Promise<Outcome>): Promise<Outcome> {
    this.#outcome = drive().finally(() => this.#directed.resolve(undefined));
    return this.#outcome;
  }

  goesBy({ fingerprint }: Team): void {
    this.#fingerprints.add(fingerprint);
  }

  /** How far it goes is on record. */
  directed(direction: Direction): void {
    this.#directed.resolve(direction);
  }

  /**
   * How the drive ends, if it does all that is asked or if something was said since that outranks it; undefined when it
   * is over and the asking drive has its turn. What could come too late is refused at once.
   */
  async serve(asked: Asked): Promise<Outcome | undefined> {
    if (asked.cause === "recovery") return this.outcome;
    const wasStopping = this.control.stopped !== undefined;
    if (!wasStopping) {
      const direction = await this.#directed.promise;
      if (direction !== undefined) {
        this.#refuseLate(asked, direction);
        if (isSameDirection(nextDirection(direction, asked.preparation.direction), direction))
          return this.outcome;
      }
    }
    const outcome = await this.outcome.catch(() => undefined);
    if (outcome === undefined || wasStopping) return undefined;
    // Who pauses or closes later has the last word, and what needs a person is not run over by an older wish.
    const isStopped = outcome.status === "parked" || outcome.status === "failed";
    const needsPerson = isStopped && outcome.elsewhere !== true;
    const isForOne = asked.preparation.direction?.only !== undefined;
    return this.control.stopped !== undefined || (needsPerson && !isForOne) ? outcome : undefined;
  }

  /** It would be true only of what has not run yet, and nobody knows what that will be. */
  #refuseLate({ team, preparation: { edits = {}, direction } }: Asked, { pauseAfter }: Direction): void {
    const { preparation } = this.#asked;
    const what =
      Object.keys(edits).length > 0 && !isSame(edits, preparation.edits ?? {})
        ? "an edit"
        : !this.#fingerprints.has(team.fingerprint)
          ? "a change of its team"
          : direction?.pauseAfter !== undefined && !isSame(direction.pauseAfter, pauseAfter ?? [])
            ? "other phases to pause after"
            : undefined;
    if (what === undefined) return;
    throw new SessionConflict(`Session ${this.#id} is being driven; ${what} would come too late for it.`, {
      details: { session: this.#id },
      advice: advise("Pause it first", "pause", this.#id),
    });
  }
}

const isSame = (one: unknown, other: unknown): boolean =>
  canonicalJson(one as Json) === canonicalJson(other as Json);
