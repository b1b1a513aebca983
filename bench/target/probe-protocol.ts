import type { ProcessFigures } from '../result/bench-result.ts';

/** Member that identifies messages between benchmark and probe. */
export const probeName = 'svc-marketplace bench probe';

/**
 * Message to the probe. `start` begins a measurement, `stop` ends it and requests its figures, `collect-garbage` runs the garbage
 * collector.
 */
export interface ProbeRequest {
  readonly probe: typeof probeName;
  readonly id: number;
  readonly command: 'start' | 'stop' | 'collect-garbage';
}

/** Response of the probe to a message. */
export interface ProbeResponse {
  readonly probe: typeof probeName;
  readonly id: number;
  /** Figures of the measurement. Null for `start` and `collect-garbage`, and for a `stop` without a `start`. */
  readonly figures: ProcessFigures | null;
}
