/** Each node with the nodes that it waits for. Unknown names are ignored. */
export type Graph = ReadonlyMap<string, readonly string[]>;

export interface Sorted {
  /** Each node after all its dependencies, otherwise in the order of the graph. Meaningless if there are cycles. */
  readonly order: readonly string[];
  /** Each from a node back to itself: a, b, a. */
  readonly cycles: readonly (readonly string[])[];
}

/** A dense graph has more cycles than can be listed. */
const maxCycles = 10;

/** Depth first with an explicit stack, so that a long line of nodes cannot overflow the call stack. */
export function sortGraph(graph: Graph): Sorted {
  const order: string[] = [];
  const cycles: string[][] = [];
  const state = new Map<string, "open" | "done">();
  const trail: { readonly node: string; readonly waits: Iterator<string> }[] = [];

  const enter = (node: string): void => {
    state.set(node, "open");
    trail.push({ node, waits: (graph.get(node) ?? []).values() });
  };

  for (const start of graph.keys()) {
    if (!state.has(start)) enter(start);
    for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
      const { done, value } = top.waits.next();
      if (done) {
        state.set(top.node, "done");
        order.push(top.node);
        trail.pop();
      } else if (!state.has(value)) {
        if (graph.has(value)) enter(value);
      } else if (state.get(value) === "open" && cycles.length < maxCycles) {
        const nodes = trail.map(({ node }) => node);
        cycles.push([...nodes.slice(nodes.indexOf(value)), value]);
      }
    }
  }
  return { order, cycles };
}

/** All direct and indirect dependencies of a node, without the node itself. */
export function reachFrom(graph: Graph, start: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [start];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const next of graph.get(node) ?? []) {
      if (reached.has(next) || !graph.has(next)) continue;
      reached.add(next);
      open.push(next);
    }
  }
  reached.delete(start);
  return reached;
}

/** The same edges reversed. */
export function turnAround(graph: Graph): Graph {
  const turned = new Map<string, string[]>([...graph.keys()].map((node) => [node, []]));
  for (const [node, waits] of graph) for (const other of waits) turned.get(other)?.push(node);
  return turned;
}
