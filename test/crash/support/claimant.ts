import { MaestroError } from "../../../src/domain/errors.ts";
import type { SessionId } from "../../../src/domain/ids.ts";
import type { Lease } from "../../../src/store/journal.ts";
import { openStore } from "./recorded.ts";

/** A process that claims a session through the store alone, one command at a time. */
export interface ClaimantOptions {
  readonly stateDir: string;
  readonly leaseMs: number;
  readonly session: SessionId;
}

export type Order =
  | { readonly do: "claim" | "release" | "write until refused" }
  | { readonly do: "write"; readonly row: string };
export type Answer = { readonly epoch: number } | { readonly refused: string };

const { stateDir, leaseMs, session } = JSON.parse(process.argv[2] ?? "") as ClaimantOptions;
const store = openStore(stateDir, leaseMs);
let lease: Lease | undefined;

process.on("message", (order: Order) => {
  obey(order).then(answer, (error: unknown) => {
    if (!MaestroError.is(error)) throw error;
    answer({ refused: error.code });
  });
});

function answer(answer: Answer): void {
  process.send?.(answer);
}

async function obey(order: Order): Promise<Answer> {
  if (order.do === "claim") {
    ({ lease } = await store.claimSession(session, "start"));
    return { epoch: lease.epoch };
  }
  if (lease === undefined) throw new Error(`nothing is claimed that could be used to ${order.do}`);
  if (order.do === "write") await write(lease, order.row);
  if (order.do === "write until refused") {
    for (let row = 1; ; row += 1) {
      await write(lease, `row-${row}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  if (order.do === "release") await store.releaseSession(lease);
  return { epoch: lease.epoch };
}

async function write(lease: Lease, phase: string): Promise<void> {
  await store.append(lease, [{ kind: "phase.started", phase }]);
}
