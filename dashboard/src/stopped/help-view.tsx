import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { checkpointsQuery } from "../api/queries.ts";
import type { StoppedPersona } from "../api/types.ts";
import { CheckpointTable } from "../records/checkpoints-tab.tsx";
import { useScene } from "../session/context.ts";
import { Loaded } from "../ui/loading.tsx";
import { AttemptTable } from "./attempt-table.tsx";
import { Choices } from "./choices.tsx";
import { NeedsList } from "./needs-list.tsx";
import { WhereStopped } from "./where-stopped.tsx";
import { WhyStopped } from "./why-stopped.tsx";

export default function HelpView() {
  const { view } = useScene();
  const checkpoints = useQuery(checkpointsQuery(view.id));
  const needs = view.stop?.personas ?? [];
  const [chosen, setChosen] = useState<StoppedPersona>();
  // The session may have stopped again, for other personas.
  const shown = needs.find((need) => isSame(need, chosen)) ?? needs[0];
  return (
    <div className="stopped-columns">
      <div className="stopped-why">
        {needs.length > 1 ? <NeedsList needs={needs} chosen={shown} onChoose={setChosen} /> : null}
        <WhyStopped stop={shown} />
        <AttemptTable of={shown} />
        <WhereStopped of={shown} />
      </div>
      <div className="stopped-choices">
        <Choices />
        <section aria-label="Checkpoints">
          <Loaded query={checkpoints} failed="Could not read the checkpoints." rows={3}>
            {(list) => <CheckpointTable checkpoints={list} />}
          </Loaded>
        </section>
      </div>
    </div>
  );
}

const isSame = (one: StoppedPersona, other: StoppedPersona | undefined): boolean =>
  one.phase === other?.phase && one.persona === other?.persona;
