import { bounds } from '../bounds.ts';
import { parseIsoDate } from '../domain/calendar.ts';
import { usdToMicros } from '../domain/money.ts';
import type { CatalogFile, CatalogOffer } from './catalog-schema.ts';

/** Budget of an offer (docs/contract.md#budgets-and-pacing), in micro-dollars. At least one of the two amounts is not null. */
export interface OfferBudget {
  readonly perDayMicros: number | null;
  readonly perMonthMicros: number | null;
  readonly pacing: 'asap' | 'even';
}

/** Members of a compiled offer that decide when the offer is shown, and whether its clicks book revenue. */
export interface OfferLimits {
  /** Maximum number of counted clicks per UTC day (docs/contract.md#daily-caps); null if the offer has no cap. */
  readonly dailyCap: number | null;
  readonly budget: OfferBudget | null;
  /** Day on which the lender confirmed the figures of the offer, in days since the Unix epoch; null if the catalog does not contain it. */
  readonly asOfDay: number | null;
}

export function compileOfferLimits(offer: CatalogOffer): OfferLimits {
  const { daily_cap, budget, as_of } = offer;
  return {
    dailyCap: daily_cap ?? null,
    budget: budget === undefined ? null : compileBudget(budget),
    asOfDay: as_of === undefined ? null : parseIsoDate(as_of),
  };
}

function compileBudget({ per_day_usd, per_month_usd, pacing }: NonNullable<CatalogOffer['budget']>): OfferBudget {
  return {
    perDayMicros: per_day_usd === undefined ? null : usdToMicros(per_day_usd),
    perMonthMicros: per_month_usd === undefined ? null : usdToMicros(per_month_usd),
    pacing,
  };
}

/**
 * Returns the maximum age of an offer's figures in days, above which the offer is not shown; null if the catalog switches this rule off.
 */
export function compileMaxAgeDays(catalog: CatalogFile): number | null {
  const { max_age_days: days = bounds.offerAgeDaysDefault } = catalog;
  return days;
}
