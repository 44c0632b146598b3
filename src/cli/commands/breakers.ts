import type { BreakerRecord, BreakerState } from "../../domain/breaker.ts";
import { type GlobalOptions, withMaestro, withReadonly } from "../open.ts";
import { print, printJson, printTable, say, sayCommand } from "../output.ts";
import { countdown } from "../terminal/format.ts";

export async function breakers(options: GlobalOptions): Promise<void> {
  const found = await withReadonly(options, (maestro) => maestro.breakers());
  if (options.json) {
    return printJson(
      found.map(({ dependency, record }) => ({
        name: dependency,
        ...withTimes(record.state),
        notBefore: record.notBefore === null ? null : iso(record.notBefore),
      })),
    );
  }
  if (found.length === 0) return say("No dependency has failed yet.");
  printTable(
    [{ head: "dependency" }, { head: "state" }, { head: "next call" }],
    found.map(({ dependency, record }) => [dependency, state(record), nextCall(record)]),
  );
  if (found.some(({ record }) => record.state.kind !== "closed"))
    sayCommand("To let the next call through now", options.stateDir, "breakers", "reset", "<dependency>");
}

export async function resetBreaker(dependency: string, options: GlobalOptions): Promise<void> {
  await withMaestro(options, (maestro) => maestro.resetBreaker(dependency));
  if (options.json) return printJson({ name: dependency, reset: true });
  print(`The next call to ${dependency} goes through.`);
}

const iso = (at: number): string => new Date(at).toISOString();

function withTimes(state: BreakerState) {
  switch (state.kind) {
    case "closed":
      return state;
    case "open":
      return { ...state, openedAt: iso(state.openedAt), probeAt: iso(state.probeAt) };
    case "half-open":
      return { ...state, openedAt: iso(state.openedAt), deadline: iso(state.deadline) };
  }
}

function state({ state }: BreakerRecord): string {
  if (state.kind === "closed") return `closed, ${state.failures} outages in a row`;
  return state.failedProbes === 0 ? state.kind : `${state.kind}, ${state.failedProbes} probes failed`;
}

function nextCall({ state, notBefore }: BreakerRecord, now = Date.now()): string {
  const from = state.kind === "open" ? state.probeAt : state.kind === "half-open" ? state.deadline : 0;
  const waitMs = Math.max(from, notBefore ?? 0) - now;
  return waitMs <= 0 ? "now" : `in ${countdown(waitMs)}`;
}
