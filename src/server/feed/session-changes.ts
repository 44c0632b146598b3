import type { SessionChange } from "../schemas/events.ts";
import type { PersonaView, PhaseHeader, SessionHeader, SessionPageView } from "../schemas/session.ts";

interface Parts {
  readonly session: SessionHeader;
  readonly phases: readonly PhaseHeader[];
  readonly personas: readonly { readonly phase: string; readonly persona: PersonaView }[];
  /** Lists that are sent whole, because they are short or rarely change. */
  readonly lists: Pick<SessionPageView, ListName>;
}

type ListName = (typeof listNames)[number];
const listNames = ["budgets", "decisions", "artifacts"] as const;

/** The differences between two reads of a session's page. */
export class SessionChanges {
  readonly #header = new Map<string, string>();
  readonly #phases = new Map<string, string>();
  readonly #personas = new Map<string, string>();
  readonly #lists = new Map<string, string>();

  /** The changes since the last call; undefined if there are none. `withFiles`: artifacts were read. */
  since(page: SessionPageView, { withFiles }: { readonly withFiles: boolean }): SessionChange | undefined {
    const { session, phases, personas, lists } = partsOf(page);
    const header = Object.entries(session).filter(([name, value]) => differs(this.#header, name, value));
    const changed = {
      phases: phases.filter((phase) => differs(this.#phases, phase.name, phase)),
      personas: personas.filter(({ phase, persona }) =>
        differs(this.#personas, `${phase}/${persona.name}`, persona),
      ),
    };
    const changedLists = listNames
      .filter((name) => withFiles || name !== "artifacts")
      .filter((name) => differs(this.#lists, name, lists[name]));
    if (header.length + changed.phases.length + changed.personas.length + changedLists.length === 0)
      return undefined;
    return {
      ...Object.fromEntries(changedLists.map((name) => [name, lists[name]])),
      ...(header.length > 0 && { session: Object.fromEntries(header) }),
      ...(changed.phases.length > 0 && { phases: changed.phases }),
      ...(changed.personas.length > 0 && { personas: changed.personas }),
    };
  }
}

/** The whole page as a change, for a watcher that reconnects. */
export function wholeChange(page: SessionPageView): SessionChange {
  const { lists, ...parts } = partsOf(page);
  return { ...parts, ...lists };
}

function partsOf(page: SessionPageView): Parts {
  const { phases, budgets, decisions, artifacts, ...session } = page;
  return {
    session,
    lists: { budgets, decisions, artifacts },
    phases: phases.map(({ personas: _personas, ...header }) => header),
    personas: phases.flatMap(({ name, personas }) => personas.map((persona) => ({ phase: name, persona }))),
  };
}

function differs(known: Map<string, string>, name: string, value: unknown): boolean {
  const text = JSON.stringify(value) ?? "";
  if (known.get(name) === text) return false;
  known.set(name, text);
  return true;
}
