/** Splits connections over threads as evenly as they go; a thread that would have none is left out. */
export function splitConnections(
  connections: number,
  threads: number,
): { readonly first: number; readonly count: number }[] {
  const used = Math.min(threads, connections);
  return Array.from({ length: used }, (_, at) => {
    const first = Math.floor((at * connections) / used);
    return { first, count: Math.floor(((at + 1) * connections) / used) - first };
  });
}
