/** Tick positions of the axes of a plot. */

/** Returns 1, 2 and 5 times each power of ten in the range; only powers of ten in a large range. */
export function logarithmicTicks(low: number, high: number): number[] {
  const decades = Math.log10(high / low);
  const steps = decades > 3 ? [1] : decades > 1.6 ? [1, 3] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of steps) {
      const tick = step * 10 ** power;
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return ticks;
}

/** Returns the points if they are a few integers; otherwise about `most` round numbers or fewer. */
export function linearTicks(low: number, high: number, points: readonly number[], most: number): number[] {
  if (points.length <= most && points.every((point) => Number.isInteger(point) && point < 100)) return [...points];
  const step = roundUp((high - low) / most);
  const ticks: number[] = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) if (tick >= 0) ticks.push(tick);
  return ticks;
}

/** Rounds a number up to 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((step) => step * power >= value) ?? 10) * power;
}
