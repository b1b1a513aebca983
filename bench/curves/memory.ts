import type { MemoryResult } from '../result/curve-result.ts';

export type MemoryPoint = MemoryResult['points'][number];

const mebibyte = 2 ** 20;

/** What one session adds, by the slope over all points: what the service holds without sessions is in none of it. Null with fewer than two. */
export function estimateSessionMemory(points: readonly MemoryPoint[], fields: number, sessionsMax: number): MemoryResult | null {
  if (points.length < 2) return null;
  const bytes = (of: (point: MemoryPoint) => number) =>
    leastSquaresSlope(points.map((point) => [point.sessions, of(point) * mebibyte]));
  return {
    fields,
    heapBytes: bytes(({ heapUsedMiB }) => heapUsedMiB),
    residentBytes: bytes(({ rssMiB }) => rssMiB),
    points,
    sessionsMax,
  };
}

/** Of the straight line that comes closest, by least squares. */
function leastSquaresSlope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  let along = 0;
  let across = 0;
  for (const [x, y] of points) {
    along += (x - meanX) ** 2;
    across += (x - meanX) * (y - meanY);
  }
  return across / along;
}
