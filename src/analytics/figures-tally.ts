import type { CohortMetrics, SummaryResult } from './analytics.ts';

/** Figures of some sessions of one device. */
export interface DeviceMetrics extends CohortMetrics {
  readonly device: number;
}

/** Sums over some matured sessions; null where SQL added up no rows. */
export interface MaturedSums {
  readonly sessions: number | null;
  readonly confirmedMicros: number | null;
  readonly centsSquared: number | null;
}

/** Adds rows up to the figures of a summary, in all and by device, and those of its matured sessions. */
export class SummaryAccumulator {
  readonly #devices = new Map<number, { -readonly [Key in keyof DeviceMetrics]: number }>();
  readonly #matured = { sessions: 0, confirmedMicros: 0, centsSquared: 0 };

  addDevice(row: DeviceMetrics): void {
    let sum = this.#devices.get(row.device);
    if (sum === undefined) {
      sum = { ...zeroMetrics, device: row.device };
      this.#devices.set(row.device, sum);
    }
    addMetrics(sum, row);
  }

  addMatured({ sessions, confirmedMicros, centsSquared }: MaturedSums): void {
    this.#matured.sessions += sessions ?? 0;
    this.#matured.confirmedMicros += confirmedMicros ?? 0;
    this.#matured.centsSquared += centsSquared ?? 0;
  }

  result(): CohortMetrics & Pick<SummaryResult, 'byDevice' | 'matured'> {
    const total = { ...zeroMetrics };
    const byDevice = [...this.#devices.values()].sort((a, b) => a.device - b.device);
    for (const figures of byDevice) addMetrics(total, figures);
    const { sessions, confirmedMicros, centsSquared } = this.#matured;
    return { ...total, byDevice, matured: { sessions, confirmedMicros, confirmedUsdSquared: centsSquared / 10_000 } };
  }
}

const zeroMetrics: CohortMetrics = { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0 };

function addMetrics(sum: { -readonly [Key in keyof CohortMetrics]: number }, figures: CohortMetrics): void {
  sum.sessions += figures.sessions;
  sum.views += figures.views;
  sum.clicks += figures.clicks;
  sum.attributedMicros += figures.attributedMicros;
  sum.confirmedMicros += figures.confirmedMicros;
}
