import { useQuery } from "@tanstack/react-query";
import { breakersQuery } from "../api/queries.ts";
import type { Situation } from "../api/types.ts";
import { plainText } from "../format/plain-text.ts";
import { BreakerCard } from "../health/breaker-card.tsx";
import { ActionButton } from "../session/actions.tsx";
import { useScene } from "../session/context.ts";
import { Icon } from "../ui/icons.tsx";
import { Loaded } from "../ui/loading.tsx";
import { AdviceList } from "./advice-list.tsx";
import { PhoneBar } from "./phone-bar.tsx";
import { WhereStopped } from "./where-stopped.tsx";

interface Props {
  readonly situation: Extract<Situation, { kind: "breaker" }>;
}

export default function BreakerStop({ situation }: Props) {
  const { view, open } = useScene();
  const { explanation } = view;
  const query = useQuery(breakersQuery);
  return (
    <div className="stopped-columns">
      <div className="stopped-why">
        <section aria-label="Why it stopped">
          <h3>Why it stopped</h3>
          <p className="ink-2 part-text outside">{plainText(explanation.why ?? "")}</p>
          <Loaded query={query} failed="Could not read the breakers." rows={2}>
            {({ breakers }) => {
              const breaker = breakers.find(({ name }) => name === situation.dependency);
              return breaker === undefined ? null : <BreakerCard breaker={breaker} />;
            }}
          </Loaded>
        </section>
        <WhereStopped />
      </div>
      <div className="stopped-choices">
        <section className="choices" aria-label="What you can do">
          <h3>What you can do</h3>
          <AdviceList advice={explanation.todo} />
          <div className="dialog-actions part-text">
            <ActionButton onClick={() => open({ kind: "resume" })}>
              <Icon name="play" size={14} />
              Resume now…
            </ActionButton>
            <ActionButton onClick={() => open({ kind: "fork" })}>
              <Icon name="fork" size={14} />
              Fork…
            </ActionButton>
          </div>
          <PhoneBar
            other={{ word: "Fork…", run: () => open({ kind: "fork" }) }}
            main={{ word: "Resume now…", run: () => open({ kind: "resume" }) }}
          />
        </section>
      </div>
    </div>
  );
}
