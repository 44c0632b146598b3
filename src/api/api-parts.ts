import type { TokenTracker } from "../cost/token-tracker.ts";
import type { Notify } from "../domain/advice.ts";
import type { Clock } from "../domain/clock.ts";
import type { TeamEngine } from "../run/engine.ts";
import type { BudgetDefaults } from "../run/spending.ts";
import type { Artifacts } from "../store/artifacts.ts";
import type { LostSessions } from "../store/lost-sessions.ts";
import type { Projector } from "../store/projector.ts";
import type { Store } from "../store/store.ts";
import type { Team } from "../team/define.ts";
import type { FileSink } from "../tickets/file.ts";
import type { TicketOutbox } from "../tickets/outbox.ts";

/** What `open` wires together for everybody who looks at sessions or acts on them. */
export interface HiveParts {
  readonly store: Store;
  readonly artifacts: Artifacts;
  readonly projector: Projector;
  readonly engine: TeamEngine;
  readonly outbox: TicketOutbox;
  readonly ticketFiles: Pick<FileSink, "remove">;
  readonly lost: LostSessions;
  readonly stateDirectory: string;
  readonly clock: Clock;
  readonly model: string | undefined;
  readonly tracker: TokenTracker;
  readonly budgets: BudgetDefaults;
  readonly teams: readonly Team[];
  readonly onNotice: Notify;
}
