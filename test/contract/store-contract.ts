import { describe } from "vitest";
import { breakersContract } from "./breakers-contract.ts";
import { copiedContract } from "./copied-contract.ts";
import { inboxContract } from "./inbox-contract.ts";
import { journalContract } from "./journal-contract.ts";
import { leaseContract } from "./lease-contract.ts";
import { ledgerContract } from "./ledger-contract.ts";
import { listingContract } from "./listing-contract.ts";
import { loginsContract } from "./logins-contract.ts";
import { ratesContract } from "./rates-contract.ts";
import { retentionContract } from "./retention-contract.ts";
import { sessionsContract } from "./sessions-contract.ts";
import { settlementContract } from "./settlement-contract.ts";
import type { OpenStore } from "./store-under-test.ts";
import { takeContract } from "./take-contract.ts";
import { ticketsContract } from "./tickets-contract.ts";
import { usageContract } from "./usage-contract.ts";
import { usersContract } from "./users-contract.ts";
import { wakeupsContract } from "./wakeups-contract.ts";

/** The promises of every store, whatever it is made of. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`the contract of a store, kept by ${name}`, () => {
    sessionsContract(open);
    journalContract(open);
    copiedContract(open);
    leaseContract(open);
    takeContract(open);
    inboxContract(open);
    ledgerContract(open);
    ratesContract(open);
    settlementContract(open);
    usageContract(open);
    listingContract(open);
    retentionContract(open);
    breakersContract(open);
    ticketsContract(open);
    loginsContract(open);
    usersContract(open);
    wakeupsContract(open);
  });
}
