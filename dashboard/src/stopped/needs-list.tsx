import type { StoppedPersona } from "../api/types.ts";
import { counted } from "../format/count.ts";
import { oneLine } from "../format/plain-text.ts";
import { categoryText, needOf } from "../sentences/stopped-text.ts";
import { useScene } from "../session/context.ts";
import { StatusMark } from "../status/status.tsx";

interface Props {
  readonly needs: readonly StoppedPersona[];
  readonly chosen: StoppedPersona | undefined;
  readonly onChoose: (need: StoppedPersona) => void;
}

/** The personas that need help. The page explains the selected one below. */
export function NeedsList({ needs, chosen, onChoose }: Props) {
  const { situation, explanation } = useScene().view;
  const total = situation.kind === "help" ? Math.max(situation.personas, needs.length) : needs.length;
  return (
    <section aria-label="Personas that need help">
      <h3>Personas that need help</h3>
      <ul className="needs-list" tabIndex={-1}>
        {needs.map((need) => (
          <li key={`${need.phase}/${need.persona}`}>
            <button
              type="button"
              aria-current={need === chosen ? "true" : undefined}
              onClick={() => onChoose(need)}
            >
              <StatusMark icon="failed" tone="failed" />
              <span className="medium one-line outside">{need.persona}</span>
              <span className="one-line outside ink-2 need-message">
                {oneLine(needOf(explanation, need)?.why ?? categoryText(need.category), 160)}
              </span>
              <span className="ink-3">{counted(need.attempts, "attempt")}</span>
            </button>
          </li>
        ))}
      </ul>
      {total === needs.length ? null : (
        <p className="ink-3 part-text">
          {counted(total - needs.length, "more persona")}; the timeline has all.
        </p>
      )}
    </section>
  );
}
