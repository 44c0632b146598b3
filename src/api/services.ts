import type { TokenTracker } from "../cost/token-tracker.ts";
import type { Notify } from "../domain/advice.ts";
import type { GithubPlace } from "../domain/delivery-order.ts";
import type { OpenState } from "../run/drive.ts";
import type { TeamEngine } from "../run/engine.ts";
import type { BudgetDefaults } from "../run/spending.ts";
import type { SessionLimits } from "../store/decisions/limits.ts";
import type { LostSessions } from "../store/lost-sessions.ts";
import type { Projector } from "../store/projector.ts";
import type { Team } from "../team/define.ts";
import type { FileSink } from "../tickets/file.ts";
import type { TicketOutbox } from "../tickets/outbox.ts";
import type { LayerStore } from "../workspace/layers/layer-store.ts";
import type { SandboxRule } from "../workspace/sandbox-kind.ts";

/** The services that queries need. */
export interface QueryServices extends OpenState {
  readonly lost: LostSessions;
  readonly tracker: TokenTracker;
  readonly budgets: BudgetDefaults;
}

/** All services that `open` wires together. */
export interface Services extends QueryServices {
  readonly projector: Projector;
  readonly engine: TeamEngine;
  readonly outbox: TicketOutbox;
  readonly ticketFiles: Pick<FileSink, "remove">;
  /** The model of sessions for which neither team nor start names one. */
  readonly model: string | undefined;
  readonly teams: readonly Team[];
  /** How many sessions may run at once, across all processes. */
  readonly limits: SessionLimits;
  readonly onNotice: Notify;
  readonly sandbox: SandboxRule;
  readonly github: GithubPlace;
  readonly layers: LayerStore;
}
