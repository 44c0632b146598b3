import type { Campaign } from "./campaign.ts";

const campaigns: readonly Campaign[] = [
  {
    name: "kill",
    about: "SIGKILL at random moments: whole teams, attempts, breakers, budgets, leases, delivery of files",
    tries: "kills",
    load: async () => (await import("./kill.ts")).killTrials,
  },
  {
    name: "points",
    about: "SIGKILL at every named fault point, at each of its first hits",
    tries: "kills",
    load: async () => (await import("./points.ts")).pointTrials,
  },
  {
    name: "effects",
    about: "SIGKILL at every point around effects that must happen at most once: probes, parks, settlements",
    tries: "kills",
    load: async () => (await import("./effect-trials.ts")).effectTrials,
  },
  {
    name: "people",
    about: "SIGKILL around calls that wait for a person, in the process that drives and in the person's own",
    tries: "kills",
    load: async () => (await import("./people.ts")).peopleTrials,
  },
  {
    name: "models",
    about: "SIGKILL at random moments of a team of models, over the protocols of four providers",
    tries: "kills",
    load: async () => (await import("./models.ts")).modelTrials,
  },
  {
    name: "cache",
    about: "SIGKILL at random moments of a long conversation: what a provider's prompt cache writes again",
    tries: "kills",
    load: async () => (await import("./cache.ts")).cacheTrials,
  },
  {
    name: "summaries",
    about: "SIGKILL while and after a model summarizes a conversation that outgrows its context window",
    tries: "kills",
    load: async () => (await import("./summaries.ts")).summaryTrials,
  },
  {
    name: "agents",
    about:
      "SIGKILL of Maestro at random moments while a command-line agent works; real Claude Code and Codex too",
    tries: "kills",
    load: async () => [
      ...(await import("./agents.ts")).agentTrials,
      ...(await import("./real-agents.ts")).realAgentTrials,
    ],
  },
  {
    name: "tickets",
    about: "SIGKILL between a ticket's POST and its record, with faulty Jira, GitHub and webhook servers",
    tries: "kills",
    load: async () => (await import("./tickets.ts")).ticketTrials,
  },
  {
    name: "power",
    about: "power cuts: a private ext4 file system loses everything that was not synced (needs root)",
    tries: "cuts",
    load: async () => (await import("./power.ts")).powerTrials,
  },
  {
    name: "images",
    about:
      "power cuts replayed from a recording: what was not synced is absent, torn or reordered (needs strace)",
    tries: "cuts",
    load: async () => (await import("./images.ts")).imageTrials,
  },
  {
    name: "disk",
    about: "full disks, and system calls that fail with EIO or ENOSPC at random (needs root and strace)",
    tries: "disk faults",
    load: async () => (await import("./disk.ts")).diskTrials,
  },
  {
    name: "damage",
    about: "flipped and torn bytes in databases, write-ahead logs, checkpoints, artifacts and exports",
    tries: "damages",
    load: async () => (await import("./damage.ts")).damageTrials,
  },
  {
    name: "attacks",
    about: "hostile requests, imports, team files, ids, workspaces and commands",
    tries: "attacks",
    load: async () => (await import("./hostile.ts")).hostileTrials,
  },
  {
    name: "imports",
    about: "forged exports, most of them under right seals: 200 in each trial",
    tries: "imports",
    load: async () => (await import("./hostile-imports.ts")).importTrials,
  },
  {
    name: "fuzz",
    about: "imports, configurations, team files and HTTP bodies: 500 in each trial, 10,000 with --trials 20",
    tries: "hostile inputs",
    load: async () => (await import("./fuzz.ts")).fuzzTrials,
  },
];

/** The campaigns that a person can start. Loads no trial, so that the list needs no test runner. */
export const listed: readonly {
  readonly name: string;
  readonly about: string;
  readonly parts: readonly Campaign[];
}[] = [
  ...campaigns.map((campaign) => ({ ...campaign, parts: [campaign] })),
  { name: "hostile", about: "all of these, sharing the minutes", parts: campaigns },
];
