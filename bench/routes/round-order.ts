/**
 * In which order the servers have their turn in one round. Whoever comes later may find a warmer or a busier machine, and
 * whoever comes after a heavy one what that left behind: so the first place rotates, and every other round goes the other
 * way about.
 */
export function serverOrder<Server>(servers: readonly Server[], round: number): Server[] {
  const first = round % servers.length;
  const [one, ...others] = [...servers.slice(first), ...servers.slice(0, first)];
  if (one === undefined) return [];
  return [one, ...(round % 2 === 0 ? others : others.reverse())];
}
