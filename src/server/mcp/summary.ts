import type { SessionPageView } from "../schemas/session.ts";

/** What a model needs of a session. The whole view would fill its context. */
export function summaryOf(view: SessionPageView) {
  const {
    id,
    key,
    team,
    owner,
    status,
    reason,
    headline,
    brief,
    waiting,
    usage,
    phases,
    artifacts,
    delivery,
  } = view;
  return {
    id,
    key,
    team,
    owner,
    status,
    reason,
    headline,
    brief: brief.slice(0, 500),
    waiting,
    phases: phases.map(({ name, status: state, personas }) => ({
      name,
      status: state,
      personas: personas.map(({ name: persona, status: stands, summary }) => ({
        name: persona,
        status: stands,
        summary,
      })),
    })),
    usage: {
      calls: usage.calls,
      costUsd: usage.costUsd,
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
    },
    files: artifacts.length,
    delivery,
  };
}
