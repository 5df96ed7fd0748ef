/**
 * The import cycles of a graph, one for each knot of files that reach each other, as the shortest
 * way round from its first file in the alphabet.
 */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const seen = new Set<string>()
  const cycles: string[][] = []
  for (const start of [...graph.keys()].sort()) {
    if (seen.has(start)) continue
    const cycle = shortestWayRound(graph, start)
    if (!cycle) continue
    for (const file of cycle) seen.add(file)
    cycles.push(cycle)
  }
  return cycles
}

function shortestWayRound(
  graph: ReadonlyMap<string, readonly string[]>,
  start: string,
): string[] | null {
  const cameFrom = new Map<string, string>()
  const queue = [start]
  for (const file of queue) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) return trace(cameFrom, start, file)
      if (cameFrom.has(next)) continue
      cameFrom.set(next, file)
      queue.push(next)
    }
  }
  return null
}

function trace(cameFrom: Map<string, string>, start: string, last: string): string[] {
  const path = [start]
  for (let file = last; file !== start; file = cameFrom.get(file) ?? start) path.unshift(file)
  path.unshift(start)
  return path
}
