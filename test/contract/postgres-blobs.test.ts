import { describe } from "vitest";
import { systemClock } from "../../src/domain/clock.ts";
import { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { postgres, sharedSchema } from "../support/postgres.ts";
import { blobsContract } from "./blobs-contract.ts";

describe.skipIf(postgres === null)("on a PostgreSQL server", () => {
  const shared = sharedSchema();
  blobsContract("PostgreSQL", async () => {
    const { address, query } = shared.get();
    const store = await PostgresStore.open({ address, clock: systemClock, leaseMs: 15_000 });
    return {
      blobs: store.blobs,
      damage: async (hash) => {
        await query("UPDATE blobs SET bytes = 'other bytes' WHERE sha256 = $1", [hash]);
      },
      close: async () => {
        await store.close();
        await shared.empty();
      },
    };
  });
});
