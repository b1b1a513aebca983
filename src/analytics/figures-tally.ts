import type { Figures, SummaryFigures } from './analytics.ts';

/** Figures of some sessions of one device, as the store adds them up: the null of SQL stands for an empty sum. */
export interface TallyRow extends Figures {
  readonly device: number;
  readonly maturedSessions: number | null;
  readonly maturedMicros: number | null;
  readonly maturedCentsSquared: number | null;
}

/** Adds rows up to the figures of a summary, in all and by device. */
export class FiguresTally {
  readonly #devices = new Map<number, { -readonly [Key in keyof TallyRow]: number }>();

  add(row: TallyRow): void {
    let sum = this.#devices.get(row.device);
    if (sum === undefined) {
      sum = { ...nothing, device: row.device, maturedSessions: 0, maturedMicros: 0, maturedCentsSquared: 0 };
      this.#devices.set(row.device, sum);
    }
    addFigures(sum, row);
    sum.maturedSessions += row.maturedSessions ?? 0;
    sum.maturedMicros += row.maturedMicros ?? 0;
    sum.maturedCentsSquared += row.maturedCentsSquared ?? 0;
  }

  figures(): Figures & Pick<SummaryFigures, 'byDevice' | 'matured'> {
    const total = { ...nothing };
    const matured = { sessions: 0, confirmedMicros: 0, confirmedUsdSquared: 0 };
    let centsSquared = 0;
    const byDevice: (Figures & { readonly device: number })[] = [];
    for (const sum of [...this.#devices.values()].sort((a, b) => a.device - b.device)) {
      const { maturedSessions, maturedMicros, maturedCentsSquared, ...figures } = sum;
      addFigures(total, sum);
      byDevice.push(figures);
      matured.sessions += maturedSessions;
      matured.confirmedMicros += maturedMicros;
      centsSquared += maturedCentsSquared;
    }
    matured.confirmedUsdSquared = centsSquared / 10_000;
    return { ...total, byDevice, matured };
  }
}

const nothing: Figures = { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0 };

function addFigures(sum: { -readonly [Key in keyof Figures]: number }, figures: Figures): void {
  sum.sessions += figures.sessions;
  sum.views += figures.views;
  sum.clicks += figures.clicks;
  sum.attributedMicros += figures.attributedMicros;
  sum.confirmedMicros += figures.confirmedMicros;
}
