import type { Campaign } from "./campaign.ts";

/** Loads no trial, so that a list of campaigns needs no test runner. */
export const campaigns: readonly Campaign[] = [
  {
    name: "kill",
    about: "SIGKILL at random moments: whole teams, attempts, breakers, budgets, leases, delivery of files",
    tries: "kills",
    faults: ["lost", "repeated"],
    load: async () => (await import("./kill.ts")).killTrials,
  },
  {
    name: "points",
    about: "SIGKILL at every named fault point, at each of its first hits",
    tries: "kills",
    faults: ["lost", "repeated"],
    load: async () => (await import("./points.ts")).pointTrials,
  },
  {
    name: "models",
    about: "SIGKILL at random moments of a team of models, over the protocols of four providers",
    tries: "kills",
    faults: ["lost", "repeated"],
    load: async () => (await import("./models.ts")).modelTrials,
  },
  {
    name: "agents",
    about: "SIGKILL of Maestro at random moments while a command-line agent works",
    tries: "kills",
    faults: ["lost", "repeated"],
    load: async () => (await import("./agents.ts")).agentTrials,
  },
  {
    name: "tickets",
    about: "SIGKILL between a ticket's POST and its record, with faulty Jira, GitHub and webhook servers",
    tries: "kills",
    faults: ["lost", "repeated"],
    load: async () => (await import("./tickets.ts")).ticketTrials,
  },
  {
    name: "power",
    about: "power cuts: a private ext4 file system loses everything that was not synced (needs root)",
    tries: "power cuts",
    faults: ["lost", "repeated"],
    load: async () => (await import("./power.ts")).powerTrials,
  },
  {
    name: "disk",
    about: "full disks, and system calls that fail with EIO or ENOSPC at random (needs root and strace)",
    tries: "disk faults",
    faults: ["lost", "repeated"],
    load: async () => (await import("./disk.ts")).diskTrials,
  },
  {
    name: "damage",
    about: "flipped and torn bytes in databases, write-ahead logs, checkpoints, artifacts and exports",
    tries: "damaged files",
    faults: ["repeated", "let in"],
    load: async () => (await import("./damage.ts")).damageTrials,
  },
  {
    name: "hostile",
    about: "hostile requests, imports, team files, ids and workspaces",
    tries: "attacks",
    faults: ["let in"],
    load: async () => (await import("./hostile.ts")).hostileTrials,
  },
];
