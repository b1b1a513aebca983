import type { RecordableHistogram } from 'node:perf_hooks';

export interface LatencyMs {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

/** Returns percentiles in milliseconds from a histogram in microseconds; 0 if the histogram is empty. */
export function percentilesMs(micros: RecordableHistogram): LatencyMs {
  const ms = (percent: number) => (micros.count === 0 ? 0 : micros.percentile(percent) / 1_000);
  return { p50: ms(50), p99: ms(99), p999: ms(99.9) };
}

/** Median and range of a measurement over all rounds. */
export interface MeasurementSummary {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

/** Returns the median; for an even number of values, the mean of the two middle values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function summarizeMeasurements(values: readonly number[]): MeasurementSummary {
  return { median: median(values), lowest: Math.min(...values), highest: Math.max(...values) };
}
