import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { runChild } from "./sqlite-child.ts";
import { storeContract } from "./store-contract.ts";

storeContract("SQLite in a file", async (clock) => {
  const directory = await mkdtemp(join(tmpdir(), "maestro-contract-"));
  const path = join(directory, "maestro.db");
  const opened: SqliteStore[] = [];
  const another = async () => {
    const store = new SqliteStore({ path, clock, leaseMs: 15_000 });
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
      await runChild("claim-and-die", path, id);
    },
    changeBody: async (id, seq, body) => {
      const stranger = new DatabaseSync(path, { timeout: 5_000 });
      stranger
        .prepare(
          "UPDATE journal SET body = ? WHERE seq = ? AND session = (SELECT number FROM sessions WHERE id = ?)",
        )
        .run(body, seq, id);
      stranger.close();
    },
    close: async () => {
      await closeAll();
      await rm(directory, { recursive: true });
    },
  };
});
