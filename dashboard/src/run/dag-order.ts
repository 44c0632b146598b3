import { Graph, layout } from "@dagrejs/dagre";
import { type DagNode, nodeSize } from "./dag-layout.ts";

/** The order of nodes from top to bottom by dagre, so that few lines cross. Loaded only for graphs that branch. */
export function dagreOrder(nodes: readonly DagNode[]): Map<string, number> {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", ranksep: nodeSize.columnGap, nodesep: nodeSize.rowGap });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(id, { width: nodeSize.width, height: nodeSize.height });
  for (const { id, dependsOn } of nodes) for (const before of dependsOn) graph.setEdge(before, id);
  layout(graph);
  return new Map(nodes.map(({ id }) => [id, (graph.node(id) as { y?: number } | undefined)?.y ?? 0]));
}
