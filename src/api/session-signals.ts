import { InputInvalid } from "../domain/errors.ts";
import { happenedIn } from "../journal/effect.ts";
import type { Signal } from "../journal/journal.ts";
import type { SessionState } from "../journal/session-state.ts";
import { refuseToRepeat } from "../run/acts/repeat-effects.ts";
import { refuseUntrustedState } from "../run/acts/trust.ts";
import { readState } from "../store/session-journal.ts";
import { checkBudgetOptions } from "./check-options.ts";
import type { ApproveOptions, BudgetOptions, RejectOptions, Settlement } from "./options.ts";
import type { Services } from "./services.ts";
import { SessionQueries } from "./session-queries.ts";
import { settlementOf } from "./settle-effect.ts";
import { budgetChangeOf, ignoreHeld, refuseSignal, refuseUnknownName, withReviewedPhase } from "./signals.ts";

/** What people decide about a session. Each decision is a signal, which its driver or the next claimant records. */
export abstract class SessionSignals extends SessionQueries {
  readonly #services: Services;

  constructor(services: Services) {
    super(services);
    this.#services = services;
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

  /** Rejects the phase that is waiting for review: it runs again with the note. Or a call: the note is its result. */
  async reject(idOrKey: string, { call, note, repeatEffects, ...options }: RejectOptions): Promise<void> {
    if (typeof note !== "string" || note.trim() === "")
      throw new InputInvalid("A rejection needs a note.", { advice: "Write what should change." });
    if (call !== undefined) {
      refusePhase(options.phase);
      return this.#decide(idOrKey, async (state) => (await answers()).rejectionOf(state, call, note));
    }
    const repeats = repeatEffects === true ? ({ repeatEffects } as const) : {};
    await this.#review(idOrKey, { action: "reject", ...options, note, ...repeats });
  }

  /** Answers a question of a persona. `question`: its row. */
  async answer(idOrKey: string, question: number, text: string): Promise<void> {
    await this.#decide(idOrKey, async (state) => (await answers()).answerOf(state, question, text));
  }

  /** Says how an effect of unknown outcome ended. `step`: its seq, or its name where that is unique. */
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

  /** Pauses the session at its next step. `by`: who or what to name as the cause; a person unless given. */
  async pause(idOrKey: string, by?: "interrupt"): Promise<void> {
    await this.#signal(idOrKey, { action: "pause", ...(by !== undefined && { by }) });
  }

  /** Cancels the session, which is final. */
  async cancel(idOrKey: string): Promise<void> {
    await this.#signal(idOrKey, { action: "cancel" });
  }

  protected abstract look(): void;

  /** What a person says about a call, whether or not its session is driven now. */
  async #decide(idOrKey: string, signalOf: (state: SessionState) => Promise<Signal>): Promise<void> {
    const { id } = await this.find(idOrKey);
    const { store, engine } = this.#services;
    // A word that was just said by this process is known.
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
    await store.signal(session.id, message);
    if (engine.isDriving(session.id)) return engine.listen();
    await engine.settle(session.id).catch(ignoreHeld);
    this.look();
  }
}

/** Loaded when a person answers a call: most commands only look. */
const answers = () => import("./answer-call.ts");

function refusePhase(phase: string | undefined): void {
  if (phase !== undefined) throw new InputInvalid("Name either a phase or a call, and not both.");
}
