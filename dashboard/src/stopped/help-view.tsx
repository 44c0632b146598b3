import { useQuery } from "@tanstack/react-query";
import { checkpointsQuery } from "../api/queries.ts";
import { CheckpointTable } from "../records/checkpoints-tab.tsx";
import { useScene } from "../session/context.ts";
import { Loaded } from "../ui/loading.tsx";
import { AttemptTable } from "./attempt-table.tsx";
import { Choices } from "./choices.tsx";
import { WhereStopped } from "./where-stopped.tsx";
import { WhyStopped } from "./why-stopped.tsx";

export default function HelpView() {
  const { view } = useScene();
  const checkpoints = useQuery(checkpointsQuery(view.id));
  return (
    <div className="stopped-columns">
      <div className="stopped-why">
        <WhyStopped />
        <AttemptTable />
        <WhereStopped />
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
