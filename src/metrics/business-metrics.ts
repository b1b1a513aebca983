import { microsToUsd } from '../domain/money.ts';
import type { MetricRegistry } from './metric-registry.ts';

/** Values that `registerBusinessMetrics` reads from other parts of the service at each scrape. Amounts are in micro-dollars. */
export interface BusinessMetricSources {
  /** Returns the revenue of live sessions since the start, for each served vertical. `byKind` has the kinds of revenue as names. */
  readonly revenue: () => readonly { readonly vertical: string; readonly byKind: Readonly<Record<string, number>> }[];
  /** Returns the sums of the budgets of each active catalog, and of what its offers with a budget booked in the period. */
  readonly budgets: () => readonly {
    readonly vertical: string;
    readonly mode: string;
    readonly period: string;
    readonly budgetMicros: number;
    readonly bookedMicros: number;
  }[];
  /** Returns the number of experiments by state. The returned promise rejects while the analytics are unavailable. */
  readonly experiments: () => Promise<Readonly<Record<string, number>>>;
}

/** Registers the metrics of revenue, budgets and experiments. Call this function once for each registry. */
export function registerBusinessMetrics(registry: MetricRegistry, sources: BusinessMetricSources): void {
  registry.registerCounter(
    'marketplace_revenue_usd_total',
    'Revenue of live sessions in ledger records since the start, by vertical and kind.',
    () =>
      sources
        .revenue()
        .flatMap(({ vertical, byKind }) =>
          Object.entries(byKind).map(([kind, micros]) => ({ labels: { vertical, kind }, value: microsToUsd(micros) })),
        ),
    ['vertical', 'kind'],
  );
  for (const [name, help, member] of [
    ['marketplace_budget_usd', 'Sum of the budgets of the offers of the active catalog.', 'budgetMicros'],
    [
      'marketplace_budget_booked_usd',
      'Revenue that the offers with a budget have booked in the current UTC day or month.',
      'bookedMicros',
    ],
  ] as const) {
    registry.registerGauge(
      name,
      help,
      () =>
        sources.budgets().map(({ vertical, mode, period, ...micros }) => ({
          labels: { vertical, mode, period },
          value: microsToUsd(micros[member]),
        })),
      ['vertical', 'mode', 'period'],
    );
  }
  registry.registerGauge(
    'marketplace_experiments',
    'Experiments of all accounts that are not deleted, by state.',
    async () => {
      const counts = await sources.experiments();
      return Object.entries(counts).map(([state, value]) => ({ labels: { state }, value }));
    },
    ['state'],
  );
}
