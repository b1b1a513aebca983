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

/** For a normal distribution: the standard deviation, divided by the median absolute deviation. */
const sigmaOfMad = 1.4826;
/** Correction factors of the median absolute deviation for 2 to 9 values (Croux and Rousseeuw, COMPSTAT 1992). */
const smallSampleCorrections = [1.196, 1.495, 1.363, 1.206, 1.2, 1.14, 1.129, 1.107];
/** A change of more than this number of standard deviations is not noise. */
const noiseSigmas = 3;
/** Minimum loss threshold. Small losses of speed are not reported, because measurements vary from day to day. */
const lossThresholdMin = 0.08;
/** Maximum loss threshold. A loss of more than half the speed is always reported, even if the runs vary widely. */
const lossThresholdMax = 0.5;

/** Returns the spread of values as the standard deviation of their logarithms: 0.05 is about 5 %. Returns 0 for one value. */
export function computeRelativeSpread(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const logarithms = values.map(Math.log);
  const middle = median(logarithms);
  const distance = median(logarithms.map((logarithm) => Math.abs(logarithm - middle)));
  const correction = smallSampleCorrections[values.length - 2] ?? values.length / (values.length - 0.8);
  return sigmaOfMad * correction * distance;
}

/** Returns the loss of speed above which a slowdown is reported. `spread` is the relative spread of the values of several runs. */
export function computeSlowdownThreshold(spread: number): number {
  return Math.min(Math.max(1 - Math.exp(-noiseSigmas * spread), lossThresholdMin), lossThresholdMax);
}

/** Returns the loss of speed between the values `from` and `to`, as a share of the speed at `from`. A negative loss is a gain. */
export function computeSlowdown(better: 'higher' | 'lower', from: number, to: number): number {
  return better === 'higher' ? 1 - to / from : 1 - from / to;
}
