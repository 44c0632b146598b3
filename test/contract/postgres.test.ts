import { describe } from "vitest";
import { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { postgres, sharedSchema } from "../support/postgres.ts";
import { runOnPostgres } from "./postgres-child.ts";
import { storeContract } from "./store-contract.ts";

describe.skipIf(postgres === null)("on a PostgreSQL server", () => {
  const shared = sharedSchema();
  storeContract("PostgreSQL", async (clock) => {
    const { address, query } = shared.get();
    const opened: PostgresStore[] = [];
    const another = async () => {
      const store = await PostgresStore.open({ address, clock, leaseMs: 15_000 });
      opened.push(store);
      return store;
    };
    const closeAll = async () => {
      for (const store of opened.splice(0)) await store.close();
    };
    return {
      store: await another(),
      another,
      reopen: async () => {
        await closeAll();
        return another();
      },
      claimAndDie: async (id) => {
        await runOnPostgres("claim-and-die", address, id);
      },
      changeBody: async (id, seq, body) => {
        await query(
          "UPDATE journal SET body = $1 WHERE seq = $2 AND session = (SELECT number FROM sessions WHERE id = $3)",
          [body, seq, id],
        );
      },
      close: async () => {
        await closeAll();
        await shared.empty();
      },
    };
  });
});
