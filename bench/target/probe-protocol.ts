import type { ProcessFigures } from '../result/bench-result.ts';

/** Marks what travels between harness and probe, so that neither takes a message of somebody else's. */
export const probeName = 'svc-marketplace bench probe';

/**
 * Harness to probe. `begin` starts a measurement anew, `end` ends it and asks for what it came to; `collect` has the garbage
 * collected, so that what is in memory then is in use.
 */
export interface ProbeRequest {
  readonly probe: typeof probeName;
  readonly id: number;
  readonly command: 'begin' | 'end' | 'collect';
}

/** Probe to harness, one for each question. */
export interface ProbeResponse {
  readonly probe: typeof probeName;
  readonly id: number;
  /** Null for `begin` and `collect`, and for an `end` that nothing was begun before. */
  readonly figures: ProcessFigures | null;
}
