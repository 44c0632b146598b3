import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { storeContract } from "./store-contract.ts";

storeContract("SQLite in memory", async (clock) => {
  const store = new SqliteStore({ path: ":memory:", clock, leaseMs: 15_000 });
  return { store, close: () => store.close() };
});
