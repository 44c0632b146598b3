import { isPlaceholder } from "../domain/advice.ts";
import { InputInvalid } from "../domain/errors.ts";
import { happenedIn } from "../journal/effect.ts";
import type { Signal } from "../journal/journal.ts";
import type { SessionState } from "../journal/session-state.ts";
import { actAs, byPerson } from "../run/acting-person.ts";
import { refuseToRepeat } from "../run/acts/repeat-effects.ts";
import { refuseUntrustedState } from "../run/acts/trust.ts";
import { readState } from "../store/session-journal.ts";
import { checkBudgetOptions } from "./check-options.ts";
import type { ApproveOptions, BudgetOptions, RejectOptions, Settlement } from "./options.ts";
import type { Services } from "./services.ts";
import { SessionQueries } from "./session-queries.ts";
import { settlementOf } from "./settle-effect.ts";
import { budgetChangeOf, ignoreHeld, refuseSignal, refuseUnknownName, withReviewedPhase } from "./signals.ts";

/** Decisions of people about a session. Each decision is a signal that its driver or the next claimant records. */
export abstract class SessionSignals extends SessionQueries {
  readonly #services: Services;

  constructor(services: Services) {
    super(services);
    this.#services = services;
  }

  /** Whatever `act` starts, resumes or decides records the name of this person. */
  actAs<T>(person: string, act: () => Promise<T>): Promise<T> {
    return actAs(person, act);
  }

  /** Approves the phase that is waiting for review, or a call that waits for approval. */
  async approve(idOrKey: string, { call, arguments: args, ...options }: ApproveOptions = {}): Promise<void> {
    if (call === undefined && args !== undefined)
      throw new InputInvalid("The arguments are for a call.", { advice: "Name the call by its number." });
    if (call === undefined) return this.#review(idOrKey, { action: "approve", ...options });
    refusePhase(options.phase);
    const { note } = options;
    await this.#decide(idOrKey, async (state) => (await answers()).approvalOf(state, call, args, note));
  }

  /**
   * Rejects the phase that is waiting for review, which then runs again with the note. Or rejects a call, with the
   * note as its result.
   */
  async reject(idOrKey: string, { call, note, repeatEffects, ...options }: RejectOptions): Promise<void> {
    if (typeof note !== "string" || note.trim() === "")
      throw new InputInvalid("A rejection needs a note.", { advice: "Write what should change." });
    if (isPlaceholder(note))
      throw new InputInvalid(`The note "${note}" is a placeholder.`, {
        advice: "Write what should change in its place.",
      });
    if (call !== undefined) {
      refusePhase(options.phase);
      return this.#decide(idOrKey, async (state) => (await answers()).rejectionOf(state, call, note));
    }
    const repeats = repeatEffects === true ? ({ repeatEffects } as const) : {};
    await this.#review(idOrKey, { action: "reject", ...options, note, ...repeats });
  }

  /** Answers a question of a persona. `question` is the row of the question. */
  async answer(idOrKey: string, question: number, text: string): Promise<void> {
    await this.#decide(idOrKey, async (state) => (await answers()).answerOf(state, question, text));
  }

  /** Settles an effect of unknown outcome. `step`: its seq, or its name if that is unique. */
  async settle(idOrKey: string, step: number | string, settlement: Settlement): Promise<void> {
    const { id } = await this.find(idOrKey);
    const { store } = this.#services;
    const isAbandoned = (await store.reports.abandoned()).includes(id);
    const state = await readState(store, id);
    refuseUntrustedState(state);
    await this.#signal(id, settlementOf(state, step, settlement, { isAbandoned }));
  }

  /** Sets or removes the limit of the session, a phase or a persona. A session parked for its budget waits for a resume. */
  async setBudget(idOrKey: string, options: BudgetOptions): Promise<void> {
    checkBudgetOptions(options);
    const { level, name, budget } = budgetChangeOf(options);
    if (name !== undefined) refuseUnknownName(level, name, (await this.show(idOrKey)).phases);
    await this.#signal(idOrKey, { action: "budget", level, ...(name !== undefined && { name }), budget });
  }

  /** Pauses the session at its next step. `by`: the cause to record. Default: a person. */
  async pause(idOrKey: string, by?: "interrupt"): Promise<void> {
    await this.#signal(idOrKey, { action: "pause", ...(by !== undefined && { by }) });
  }

  /** Cancels the session for good. */
  async cancel(idOrKey: string): Promise<void> {
    await this.#signal(idOrKey, { action: "cancel" });
  }

  protected abstract look(): void;

  /** Signals a decision about a call, whether or not the session is being driven. */
  async #decide(idOrKey: string, signalOf: (state: SessionState) => Promise<Signal>): Promise<void> {
    const { id } = await this.find(idOrKey);
    const { store, engine } = this.#services;
    // A signal that this process just sent may not be read yet.
    if (engine.isDriving(id)) await engine.listen();
    await this.#signal(id, await signalOf(await readState(store, id)));
  }

  async #review(
    idOrKey: string,
    message: Extract<Signal, { readonly action: "approve" | "reject" }>,
  ): Promise<void> {
    const { store, engine } = this.#services;
    const session = await this.find(idOrKey);
    await refuseSignal(session, message, engine);
    const state = await readState(store, session.id);
    refuseUntrustedState(state);
    const signal = withReviewedPhase(message, state);
    if (signal.action === "reject" && signal.repeatEffects !== true)
      refuseToRepeat(state.id, happenedIn(state.effects, [signal.phase]));
    await this.#signal(session.id, signal);
  }

  async #signal(idOrKey: string, message: Signal): Promise<void> {
    const { store, engine } = this.#services;
    const session = await this.find(idOrKey);
    await refuseSignal(session, message, engine);
    await store.signal(session.id, { ...message, ...byPerson() });
    if (engine.isDriving(session.id)) return engine.listen();
    await engine.settle(session.id).catch(ignoreHeld);
    this.look();
  }
}

/** Loaded when a person answers a call, because most commands only read. */
const answers = () => import("./answer-call.ts");

function refusePhase(phase: string | undefined): void {
  if (phase !== undefined) throw new InputInvalid("Name either a phase or a call, and not both.");
}
