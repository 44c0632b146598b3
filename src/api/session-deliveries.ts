import { type DeliveryOrder, isSameOrder } from "../domain/delivery-order.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Delivered } from "../journal/journal.ts";
import type { OrderedDelivery } from "../run/acts/perform-order.ts";
import { readState } from "../store/session-journal.ts";
import { recallOrder, rememberOrder } from "../store/session-memory.ts";
import type { SessionRecord } from "../store/store.ts";
import type { BranchOptions, DeliveredBranch } from "./options.ts";
import { refuseUnknown } from "./refuse-unknown.ts";
import type { Services } from "./services.ts";
import { SessionSignals } from "./session-signals.ts";
import { ignoreHeld } from "./signals.ts";

const deliveryPatienceMs = 10_000;

/** Delivers the work of sessions: branches, pull requests and tickets. */
export abstract class SessionDeliveries extends SessionSignals {
  readonly #services: Services;

  constructor(services: Services) {
    super(services);
    this.#services = services;
  }

  /**
   * Creates a git branch with one commit for each completed phase, in the session's repository or another one, and
   * optionally pushes it.
   */
  async branch(idOrKey: string, options: BranchOptions): Promise<DeliveredBranch> {
    const { branch, push, pullRequest, repo } = options;
    refuseUnknown("A branch", options, { branch: true, push: true, pullRequest: true, repo: true });
    const delivered = await this.#deliver((await this.find(idOrKey)).id, {
      branch,
      ...(push !== undefined && { push }),
      ...(pullRequest !== undefined && { pullRequest }),
      ...(repo !== undefined && { repo }),
    });
    const { commits = [], remote = null, pullRequest: requested } = delivered;
    const [request] = requested === undefined ? [] : await this.ticketsOf([requested]);
    return { branch: delivered.branch ?? branch, commits, remote, pullRequest: request ?? null };
  }

  /** Delivers due tickets to their tracker. Returns the number delivered. */
  deliverTickets(): Promise<number> {
    return this.#services.outbox.deliverDue(AbortSignal.timeout(deliveryPatienceMs));
  }

  /** Delivers a completed session now, any other when it completes. */
  protected async order({ id, status }: SessionRecord, order: DeliveryOrder): Promise<void> {
    const { stateDirectory, store } = this.#services;
    const before = await recallOrder(stateDirectory, id);
    await rememberOrder(stateDirectory, id, order);
    if (status !== "completed") return;
    const { delivery } = await readState(store, id);
    const isDone = delivery !== undefined && (delivery.failures ?? []).length === 0;
    if (!isDone || !isSameOrder(before, order)) await this.#deliver(id, order);
  }

  async #deliver(id: SessionId, order: OrderedDelivery): Promise<Delivered> {
    const { deliverNow } = await import("../run/acts/deliver-now.ts");
    const { delivered, tickets } = await deliverNow(id, order, this.#services);
    // The delivery's row belongs in the session's files too.
    if ((await this.find(id)).status === "completed")
      await this.#services.engine.settle(id).catch(ignoreHeld);
    // The caller expects the request in the result. A refusal by GitHub does not fail the branch.
    if (tickets.length > 0)
      await this.deliverTickets().catch((error) => this.#services.onNotice(String(error)));
    return delivered;
  }
}
