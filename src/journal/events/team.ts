import { alertText } from "../../domain/budget-alert.ts";
import { limitOf, phasesFact, plannedPhases } from "../planned.ts";
import { changeTeam } from "../reset-phase.ts";
import * as is from "../schema.ts";
import { type CardPhase, cardLimits } from "../session-card.ts";
import { budgetAlert, decision, decisionFields, definition } from "../values.ts";
import { event, shorten } from "./define.ts";

export const teamEvents = {
  /**
   * A person accepted another definition, or the session's team was planned for its brief. In the phases of
   * `reset`, only personas with the same input keep results.
   */
  "team.changed": event({
    row: is.object({
      definition,
      teamFingerprint: is.label,
      changes: is.list(is.text),
      /** Phases that run again. */
      reset: is.list(is.name),
      /** The decisions of the planning. */
      decisions: is.optional(is.list(decision)),
    }),
    listed: ({ teamFingerprint }) => ({ teamFingerprint }),
    card(card, { definition: team, reset }) {
      const planned = plannedPhases(team);
      const known = new Map((card?.phases ?? []).map((phase) => [phase.name, phase]));
      return {
        phases: planned.slice(0, cardLimits.phases).map(({ name }): CardPhase => {
          const phase = known.get(name);
          return phase === undefined || reset.includes(name) ? { name, status: "pending" } : phase;
        }),
        phaseCount: planned.length,
        limit: limitOf(team),
      };
    },
    reduce(state, entry) {
      const { teamFingerprint, decisions } = entry;
      const created = {
        ...state.created,
        definition: entry.definition,
        teamFingerprint,
        ...(decisions !== undefined && { decisions }),
      };
      return { ...state, ...changeTeam(state, entry), teamChanged: true, created };
    },
    fact: ({ changes, definition: team, reset }) => ({
      changes,
      phases: phasesFact(team),
      /** Phases that run again. */
      reset,
    }),
    logged: () => "team changed",
    sentence: ({ changes }) => `team changed: ${changes.join("; ")}`,
    isTransition: true,
  }),
  "decision.recorded": event({
    row: is.object({ phase: is.optional(is.name), persona: is.optional(is.name), ...decisionFields }),
    reduce(state, entry, { at }) {
      const { kind: _, ...recorded } = entry;
      return { ...state, decisions: [...state.decisions, { ...recorded, at }] };
    },
    fact: ({ title, choice }) => ({ title: shorten(title), choice: shorten(choice) }),
    logged: () => "recorded a decision",
    sentence: ({ title, choice }) => `decided ${title}: ${choice}`,
  }),
  /** Committed together with the record that it was raised, so it is raised once. */
  "budget.alerted": event({
    row: is.object({ alert: budgetAlert }),
    reduce: (state) => state,
    fact: ({ alert }) => ({ alert, message: alertText(alert) }),
    logged: "sentence",
    sentence: ({ message }) => message,
    mark: () => "waits",
    isTransition: true,
  }),
};
