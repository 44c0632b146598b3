import { memo, useEffect, useMemo, useState } from "react";
import type { PhaseView } from "../api/types.ts";
import { count, score } from "../format/count.ts";
import { useNow } from "../live/clock.ts";
import type { StatusWord } from "../sentences/status-word.ts";
import { StatusMark } from "../status/status.tsx";
import { Placed } from "../ui/placed.tsx";
import {
  branches,
  collapseChains,
  type DagEdge,
  type DagNode,
  layoutDag,
  nodeSize,
  type PlacedNode,
} from "./dag-layout.ts";
import { phaseProgress, phaseWord } from "./persona-state.ts";

interface Props {
  readonly phases: readonly PhaseView[];
  readonly onPhase: (name: string) => void;
}

/** Shows phases only. Screen readers get a list, because the lines are decoration. */
export const Dag = memo(function Dag({ phases, onPhase }: Props) {
  const nodes = useMemo(() => collapseChains(phases), [phases]);
  const order = useOrder(nodes);
  const { nodes: placed, edges, width, height } = useMemo(() => layoutDag(nodes, order), [nodes, order]);
  return (
    <div className="dag" role="region" aria-label="Phases" tabIndex={0}>
      <Placed at={{ width: width + 32, height: Math.max(86, height) + 32 }} className="dag-area">
        <svg className="dag-edges" width={width} height={height} aria-hidden="true">
          {edges.map((edge) => (
            <path key={`${edge.from.id} ${edge.to.id}`} className={edgeClass(edge)} d={edge.path} />
          ))}
        </svg>
        <ol>
          {placed.map((node) => (
            <DagItem key={node.id} node={node} top={(Math.max(86, height) - height) / 2} onPhase={onPhase} />
          ))}
        </ol>
      </Placed>
    </div>
  );
});

/** Dagre is loaded only if there is something to order. */
function useOrder(nodes: readonly DagNode[]): ReadonlyMap<string, number> | undefined {
  const [order, setOrder] = useState<ReadonlyMap<string, number>>();
  const branched = branches(nodes);
  const shape = nodes.map(({ id, dependsOn }) => `${id}<${dependsOn.join()}`).join(" ");
  useEffect(() => {
    if (!branched) return;
    let current = true;
    void import("./dag-order.ts").then(({ dagreOrder }) => {
      if (current) setOrder(dagreOrder(nodes));
    });
    return () => {
      current = false;
    };
    // oxlint-disable-next-line exhaustive-deps -- only the shape decides the order
  }, [shape, branched]);
  return branched ? order : undefined;
}

const isReached = ({ phases }: DagNode): boolean => phases.some(({ status }) => status !== "pending");

const edgeClass = ({ to }: DagEdge): string => (isReached(to) ? "dag-edge" : "dag-edge unreached");

interface ItemProps {
  readonly node: PlacedNode;
  readonly top: number;
  readonly onPhase: (name: string) => void;
}

function DagItem({ node, top, onPhase }: ItemProps) {
  const now = useNow();
  const [first] = node.phases;
  const last = node.phases.at(-1);
  if (first === undefined || last === undefined) return null;
  const { icon, tone, word } = phaseWord(first, now);
  const single = node.phases.length === 1;
  const sealed = last.checkpoint !== null;
  const name = single ? first.name : `${first.name} to ${last.name}`;
  return (
    <li>
      <Placed
        at={{
          transform: `translate(${node.x}px, ${node.y + top}px)`,
          width: nodeSize.width,
          height: nodeSize.height,
        }}
        className="dag-place"
      >
        <button
          type="button"
          className={`dag-node ${sealed ? "sealed" : ""} ${nodeClass(first, { icon, tone, word })}`}
          onClick={() => onPhase(first.name)}
        >
          <StatusMark icon={icon} tone={tone} label={word} />
          <span className="dag-text">
            <span className="dag-name one-line">{name}</span>
            <span className="dag-detail one-line">
              {single ? nodeDetail(first, now) : `${count(node.phases.length)} phases`}
            </span>
          </span>
          {sealed ? <SealBars /> : null}
        </button>
      </Placed>
    </li>
  );
}

/** The signature: a thin and a thick bar close sealed phases. */
function SealBars() {
  return (
    <svg className="seal-bars" width="6" height="32" viewBox="0 0 6 32" role="img" aria-label="sealed">
      <path className="seal-bar" d="M.7 0v32" strokeWidth="1.2" />
      <path className="seal-bar" d="M4.2 0v32" strokeWidth="3" />
    </svg>
  );
}

function nodeClass({ status }: PhaseView, { tone }: StatusWord): string {
  if (status === "pending") return "unreached";
  if (status === "running") return tone === "parked" ? "held" : "running";
  if (status === "stopped") return "stopped";
  return status === "failed" ? "failed" : status === "reused" ? "reused" : "";
}

/** The gate once it is judged, progress while it runs, otherwise the plan. */
function nodeDetail(phase: PhaseView, now: number): string {
  const { gate, status } = phase;
  if (gate?.verdict === "unverified") return "unverified";
  if (gate?.score != null)
    return gate.threshold === null
      ? `score ${score(gate.score)}`
      : `gate ${score(gate.score)} of ${score(gate.threshold)}`;
  const progress = phaseProgress(phase, now);
  return status === "pending" && gate?.threshold != null
    ? `${progress}, gate ${score(gate.threshold)}`
    : progress;
}
