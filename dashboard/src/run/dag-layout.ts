import type { PhaseView } from "../api/types.ts";

/** A phase, or a chain of phases drawn as one. */
export interface DagNode {
  readonly id: string;
  readonly phases: readonly PhaseView[];
  readonly dependsOn: readonly string[];
}

export interface PlacedNode extends DagNode {
  readonly x: number;
  readonly y: number;
}

export interface DagEdge {
  readonly from: PlacedNode;
  readonly to: PlacedNode;
  /** An SVG path. */
  readonly path: string;
}

interface DagLayout {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly DagEdge[];
  readonly width: number;
  readonly height: number;
}

export const nodeSize = { width: 166, height: 44, columnGap: 32, rowGap: 8 } as const;

/** With more phases than this, chains are drawn as one node. */
const mostPhases = 40;

/** Phases in a row, each with one neighbor on either side and the same status, become one node. */
export function collapseChains(phases: readonly PhaseView[]): DagNode[] {
  const single = phases.map(
    (phase): DagNode => ({ id: phase.name, phases: [phase], dependsOn: phase.dependsOn }),
  );
  if (phases.length <= mostPhases) return single;
  const dependents = new Map<string, number>();
  for (const { dependsOn } of phases)
    for (const name of dependsOn) dependents.set(name, (dependents.get(name) ?? 0) + 1);
  const nodes: DagNode[] = [];
  const nodeOf = new Map<string, number>();
  for (const phase of phases) {
    const [before] = phase.dependsOn;
    const at = before === undefined ? undefined : nodeOf.get(before);
    const chain = at === undefined ? undefined : nodes[at];
    const last = chain?.phases.at(-1);
    const joins =
      phase.dependsOn.length === 1 &&
      last !== undefined &&
      last.name === before &&
      dependents.get(before ?? "") === 1 &&
      last.status === phase.status;
    if (joins && chain !== undefined && at !== undefined) {
      nodes[at] = { ...chain, phases: [...chain.phases, phase] };
      nodeOf.set(phase.name, at);
    } else {
      nodeOf.set(phase.name, nodes.length);
      nodes.push({ id: phase.name, phases: [phase], dependsOn: phase.dependsOn });
    }
  }
  const idOf = (name: string): string => nodes[nodeOf.get(name) ?? -1]?.id ?? name;
  return nodes.map((node) => ({ ...node, dependsOn: [...new Set(node.dependsOn.map(idOf))] }));
}

/** Columns by depth. `order` gives the place inside a column; otherwise the team's order applies. */
export function layoutDag(
  nodes: readonly DagNode[],
  order: ReadonlyMap<string, number> | undefined,
): DagLayout {
  const depths = depthsOf(nodes);
  const columns = new Map<number, DagNode[]>();
  for (const node of nodes) {
    const depth = depths.get(node.id) ?? 0;
    columns.set(depth, [...(columns.get(depth) ?? []), node]);
  }
  const tallest = Math.max(1, ...[...columns.values()].map(({ length }) => length));
  const { width, height, columnGap, rowGap } = nodeSize;
  const total = tallest * height + (tallest - 1) * rowGap;
  const placed = new Map<string, PlacedNode>();
  for (const [depth, column] of columns) {
    const sorted =
      order === undefined
        ? column
        : [...column].sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
    const own = sorted.length * height + (sorted.length - 1) * rowGap;
    sorted.forEach((node, row) => {
      const y = (total - own) / 2 + row * (height + rowGap);
      placed.set(node.id, { ...node, x: depth * (width + columnGap), y });
    });
  }
  const edges = nodes.flatMap(({ id, dependsOn }) =>
    dependsOn.flatMap((name): DagEdge[] => {
      const [from, to] = [placed.get(name), placed.get(id)];
      return from === undefined || to === undefined ? [] : [{ from, to, path: edgePath(from, to) }];
    }),
  );
  const deepest = Math.max(0, ...columns.keys());
  return {
    nodes: [...placed.values()],
    edges,
    width: (deepest + 1) * (width + columnGap) - columnGap,
    height: total,
  };
}

/** The longest path from a start. The engine refuses cycles, but one must not hang the page either. */
function depthsOf(nodes: readonly DagNode[]): Map<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const depths = new Map<string, number>();
  const visit = (id: string, trail: ReadonlySet<string>): number => {
    const known = depths.get(id);
    if (known !== undefined) return known;
    const node = byId.get(id);
    if (node === undefined || trail.has(id)) return -1;
    const next = new Set(trail).add(id);
    const depth = 1 + Math.max(-1, ...node.dependsOn.map((name) => visit(name, next)));
    depths.set(id, depth);
    return depth;
  };
  for (const { id } of nodes) visit(id, new Set());
  return depths;
}

/** Straight if possible, otherwise around a corner in the gap before its end. */
function edgePath(from: PlacedNode, to: PlacedNode): string {
  const [x1, y1] = [from.x + nodeSize.width, from.y + nodeSize.height / 2];
  const [x2, y2] = [to.x, to.y + nodeSize.height / 2];
  if (y1 === y2) return `M${x1} ${y1}H${x2}`;
  const middle = x2 - nodeSize.columnGap / 2;
  const turn = Math.min(6, Math.abs(y2 - y1) / 2) * Math.sign(y2 - y1);
  const r = Math.abs(turn);
  return `M${x1} ${y1}H${middle - r}Q${middle} ${y1} ${middle} ${y1 + turn}V${y2 - turn}Q${middle} ${y2} ${middle + r} ${y2}H${x2}`;
}

/** A chain needs no ordering, which is worth computing only if something branches. */
export const branches = (nodes: readonly DagNode[]): boolean => {
  const depths = [...depthsOf(nodes).values()];
  return new Set(depths).size < depths.length;
};
