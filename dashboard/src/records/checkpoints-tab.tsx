import { useQuery } from "@tanstack/react-query";
import { checkpointsQuery } from "../api/queries.ts";
import type { CheckpointInfo } from "../api/types.ts";
import { moneyRange } from "../format/money.ts";
import { clock } from "../format/time.ts";
import { sealWord } from "../sentences/status-word.ts";
import { ActionButton } from "../session/actions.tsx";
import { useScene } from "../session/context.ts";
import { Status, StatusMark } from "../status/status.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Loaded } from "../ui/loading.tsx";
import { Moment } from "../ui/time.tsx";

export default function CheckpointsTab() {
  const { view } = useScene();
  const query = useQuery(checkpointsQuery(view.id));
  return (
    <div className="record-page" role="region" aria-label="Checkpoints" tabIndex={0}>
      <header className="record-head">
        <h2>Checkpoints</h2>
        <p className="ink-2">
          Sealed at each phase boundary; with the artifacts, enough to resume on another machine.
        </p>
        <span className="spring" />
        <button type="button" className="button small" onClick={() => void query.refetch()}>
          {query.isFetching ? "Verifying…" : "Verify"}
        </button>
      </header>
      <Loaded query={query} failed="Could not read the checkpoints.">
        {(checkpoints) => (
          <>
            <Damage checkpoints={checkpoints} />
            <CheckpointTable checkpoints={checkpoints} full />
          </>
        )}
      </Loaded>
    </div>
  );
}

/** "checkpoint_design.json does not match its seal. Resume would start at requirements, sealed 02:14 and valid." */
function Damage({ checkpoints }: { readonly checkpoints: readonly CheckpointInfo[] }) {
  const { view, open } = useScene();
  const damaged = checkpoints.find(({ valid }) => !valid);
  if (damaged === undefined) return null;
  const last = checkpoints.slice(0, checkpoints.indexOf(damaged)).findLast(({ valid }) => valid);
  const cost = view.forecast === null ? "" : `, ${moneyRange(view.forecast)}`;
  return (
    <div className="damage">
      <div className="notice failed">
        <StatusMark icon="damaged" tone="failed" />
        <p>
          <b className="strong">{damaged.problem ?? `${damaged.file} is damaged`}.</b>{" "}
          {last === undefined
            ? "No checkpoint before it is valid."
            : `Resume would start at ${last.phase}, sealed ${last.createdAt === null ? "" : clock(Date.parse(last.createdAt))} and valid; ${damaged.phase} would run again${cost}.`}
        </p>
      </div>
      {last === undefined ? null : (
        <ActionButton onClick={() => open({ kind: "resume" })}>Resume from {last.phase}…</ActionButton>
      )}
    </div>
  );
}

interface TableProps {
  readonly checkpoints: readonly CheckpointInfo[];
  /** Also shows file and hash. */
  readonly full?: boolean;
}

/** Newest first. Only the newest can be resumed in place. The others need a fork. */
export function CheckpointTable({ checkpoints, full = false }: TableProps) {
  const { view, open } = useScene();
  const newest = checkpoints.toReversed();
  const resumable = view.status === "parked" || view.status === "paused" || view.status === "failed";
  const firstValid = newest.find(({ valid }) => valid);
  return (
    <div className="table-scroll-x" role="region" aria-label="Table of checkpoints" tabIndex={0}>
      <table className="plain-table checkpoint-table">
        <thead>
          <tr>
            <th scope="col">Checkpoint</th>
            {full ? <th scope="col">Revision</th> : null}
            <th scope="col">Sealed</th>
            {full ? <th scope="col">SHA-256</th> : null}
            <th scope="col">Seal</th>
            <th scope="col">
              <span className="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {newest.map((checkpoint) => {
            const { phase, revision, createdAt, valid, sha256, awaitingReview, file } = checkpoint;
            return (
              <tr key={file}>
                <td>
                  <span className="checkpoint-name">
                    <StatusMark
                      icon={valid ? "sealed" : "damaged"}
                      tone={valid ? "ink" : "failed"}
                      size={13}
                    />
                    {phase}
                    {awaitingReview ? <span className="tag">awaits review</span> : null}
                  </span>
                </td>
                {full ? <td>{revision}</td> : null}
                <td>{createdAt === null ? "" : <Moment at={createdAt} />}</td>
                {full ? (
                  <td className="mono">
                    {sha256 === null ? "" : sha256.slice(0, 16)}
                    {sha256 === null ? null : <CopyButton text={sha256} label="Copy the hash" />}
                  </td>
                ) : null}
                <td>
                  <Status status={sealWord(valid)} />
                </td>
                <td className="end checkpoint-actions">
                  {checkpoint === firstValid && resumable && !awaitingReview ? (
                    <ActionButton className="link" onClick={() => open({ kind: "resume" })}>
                      Resume from here
                    </ActionButton>
                  ) : null}
                  {valid ? (
                    <ActionButton
                      className="link"
                      onClick={() =>
                        open({
                          kind: "fork",
                          at: after(
                            view.phases.map(({ name }) => name),
                            phase,
                          ),
                        })
                      }
                    >
                      Fork…
                    </ActionButton>
                  ) : null}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** A fork "from" a checkpoint starts at the phase after it. */
function after(phases: readonly string[], phase: string): string {
  return phases[phases.indexOf(phase) + 1] ?? phases.at(-1) ?? phase;
}
