import assert from 'node:assert/strict';

/** Asserts that two numbers agree in the given number of significant digits; also at 0. */
export function assertClose(actual: number, expected: number, digits = 9): void {
  assert.ok(Math.abs(actual - expected) <= Math.abs(expected) * 10 ** -digits, `${actual} is not ${expected}`);
}

/** Asserts that a number, rounded as the expected text, is the expected text. */
export function assertRounded(actual: number, expected: string): void {
  const decimals = expected.split('.')[1]?.length ?? 0;
  assert.equal(actual.toFixed(decimals), expected);
}

/** Integrates a smooth function by Simpson's rule. */
export function integrate(f: (x: number) => number, from: number, to: number, steps = 20_000): number {
  const width = (to - from) / steps;
  let sum = f(from) + f(to);
  for (let step = 1; step < steps; step++) sum += f(from + step * width) * (step % 2 === 1 ? 4 : 2);
  return (sum * width) / 3;
}

/** Finds the point between `low` and `high` at which a condition that holds at `high` begins to hold. */
export function bisect(holds: (x: number) => boolean, low: number, high: number): number {
  let [failing, holding] = [low, high];
  for (let round = 0; round < 100; round++) {
    const middle = (failing + holding) / 2;
    if (holds(middle)) holding = middle;
    else failing = middle;
  }
  return holding;
}
