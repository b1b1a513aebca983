import type { MethodResult } from './simulate-cell.ts';

/** Maximum part of the experiments with a wrong decision, before the tolerance of the simulation. */
export const wrongMax = 0.05;
/** Standard errors of the simulation by which a result may miss a bound. */
const toleranceErrors = 3;

/** Returns the bounds that a result violates, as text. */
export function findViolations(
  { opened, covered, relativeCovered, wrong }: MethodResult,
  coverageMin: number,
): string[] {
  const tolerance = (share: number) => toleranceErrors * Math.sqrt((share * (1 - share)) / opened);
  const violations: string[] = [];
  if (opened === 0) return ['no experiment had enough data'];
  for (const [name, count] of [
    ['joint coverage', covered],
    ['joint coverage of the relative difference', relativeCovered],
  ] as const) {
    if (count / opened >= coverageMin - tolerance(coverageMin)) continue;
    violations.push(`${name} ${(count / opened).toFixed(4)} below ${coverageMin}`);
  }
  if (wrong / opened > wrongMax + tolerance(wrongMax)) {
    violations.push(`wrong decisions ${(wrong / opened).toFixed(4)} above ${wrongMax}`);
  }
  return violations;
}
