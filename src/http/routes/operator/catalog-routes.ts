import { type Analytics, AnalyticsUnavailableError, type OfferTotal } from '../../../analytics/analytics.ts';
import { bounds } from '../../../bounds.ts';
import { unavailabilityReasons } from '../../../budgets/catalog-availability.ts';
import type { LedgerBookings } from '../../../budgets/ledger-bookings.ts';
import type { BudgetState } from '../../../budgets/offer-bookings.ts';
import type { CatalogComparisons } from '../../../catalogs/catalog-comparisons.ts';
import { offerIdPattern } from '../../../catalogs/catalog-schema.ts';
import type { CatalogStore } from '../../../catalogs/catalog-store.ts';
import type { CompiledCatalog } from '../../../catalogs/compile-catalog.ts';
import {
  daysSinceEpoch,
  formatIsoDate,
  formatIsoTimestamp,
  formatIsoTimestampOrNull,
} from '../../../domain/calendar.ts';
import type { Clock } from '../../../domain/clock.ts';
import { microsToUsd } from '../../../domain/money.ts';
import { failureOutcomeWithCode, invalidRequest, type SuccessValue, successOutcome } from '../../../domain/outcome.ts';
import { listChanges } from './catalog-changes.ts';
import type { OperatorRequest, OperatorRoute } from './operator-route.ts';
import { cursorRule, parsePageQuery, toPageJson } from './page-query.ts';

type ServedCatalog = CatalogStore['servedCatalogs'][number];

export interface CatalogRoutesDeps {
  readonly clock: Clock;
  readonly catalogs: Pick<CatalogStore, 'servedCatalogs'>;
  readonly bookings: Pick<LedgerBookings, 'getCatalogAvailability'>;
  readonly analytics: Pick<Analytics, 'listOfferTotals'>;
  readonly comparisons: Pick<CatalogComparisons, 'compare'>;
}

/** Returns the routes that show the catalogs in use and their offers. */
export function catalogRoutes(deps: CatalogRoutesDeps): readonly OperatorRoute[] {
  const { catalogs } = deps;
  const findCatalog = ([vertical, mode]: readonly string[]): ServedCatalog | undefined =>
    catalogs.servedCatalogs.find(({ source }) => source.vertical.segment === vertical && source.mode === mode);
  return [
    {
      path: '/catalogs',
      name: 'catalogs',
      GET: () => successOutcome(catalogs.servedCatalogs.map((served) => describeCatalog(deps, served))),
    },
    {
      path: '/catalogs/{vertical}/{mode}/offers',
      name: 'catalogs',
      GET(request) {
        const served = findCatalog(request.segments);
        return served === undefined ? failureOutcomeWithCode('NOT_FOUND') : listOffers(deps, served.current, request);
      },
    },
    {
      path: '/catalogs/{vertical}/{mode}/changes',
      name: 'catalogs',
      GET(request) {
        const served = findCatalog(request.segments);
        return served === undefined ? failureOutcomeWithCode('NOT_FOUND') : listChanges(deps, served, request);
      },
    },
  ];
}

/** Catalog in an answer of `GET /catalogs`. */
export type CatalogView = ReturnType<typeof describeCatalog>;

function describeCatalog({ bookings, clock }: CatalogRoutesDeps, served: ServedCatalog) {
  const { source, current, activatedMs, reloadErrors } = served;
  return {
    vertical: source.vertical.segment,
    mode: source.mode,
    version: current.version,
    file: 'file' in source ? source.file : null,
    activated_at: formatIsoTimestamp(activatedMs),
    reload_failed: reloadErrors.length > 0,
    reload_errors: reloadErrors.slice(0, bounds.reloadErrorsShownMax),
    offers: {
      total: current.offers.length,
      ...bookings.getCatalogAvailability(current).countOffersByState(clock.wallMs()),
    },
  };
}

const offerStates = ['shown', ...unavailabilityReasons] as const;
type OfferState = (typeof offerStates)[number];
const stateRule = `must be ${offerStates.slice(0, -1).join(', ')} or ${offerStates.at(-1)}`;

const offerId = new RegExp(offerIdPattern);

/** Page of the offers of a catalog. */
export type CatalogOffersPage = SuccessValue<ReturnType<typeof listOffers>>;

async function listOffers(
  deps: CatalogRoutesDeps,
  catalog: CompiledCatalog,
  { query, signal, logIncompleteAnswer }: OperatorRequest,
) {
  const { clock, bookings, analytics } = deps;
  const page = parsePageQuery(query, ['state']);
  if (!page.ok) return page;
  const { cursor, state } = page.values;
  if (cursor !== undefined && !offerId.test(cursor)) return invalidRequest('cursor', cursorRule);
  if (state !== undefined && !isOfferState(state)) return invalidRequest('state', stateRule);
  const { limit = bounds.operatorPageItemsMax } = page;
  const nowMs = clock.wallMs();
  const availability = bookings.getCatalogAvailability(catalog);
  availability.unavailableOffers(nowMs);
  const found: OfferInState[] = [];
  for (let index = findOfferAfter(catalog, cursor); index < catalog.offers.length && found.length <= limit; index++) {
    const reasons = availability.listUnavailabilityReasons(index);
    const isFound = state === undefined || (state === 'shown' ? reasons.length === 0 : reasons.includes(state));
    if (isFound) found.push({ index, reasons });
  }
  const limitsOf = new Map(found.map(({ index }) => [index, availability.describeLimits(index, nowMs)]));
  const toDay = daysSinceEpoch(nowMs);
  const fromDay = toDay - bounds.offerTotalDays + 1;
  const { vertical, mode } = catalog;
  const offerIds = found.slice(0, limit).map(({ index }) => catalog.offers[index]!.id);
  // The limits of offers are shown even while the analytics are unavailable.
  const totals = await analytics
    .listOfferTotals({ vertical: vertical.number, mode, fromDay, toDay, offerIds }, signal)
    .catch((cause: unknown) => {
      if (!(cause instanceof AnalyticsUnavailableError)) throw cause;
      logIncompleteAnswer({ text: 'figures of offers are missing; see the log lines of the aggregator', cause });
      return null;
    });
  const totalsById = totals && new Map(totals.map((total) => [total.offerId, total]));
  return successOutcome({
    version: catalog.version,
    from: formatIsoDate(fromDay),
    to: formatIsoDate(toDay),
    ...toPageJson(
      found,
      limit,
      ({ index }) => catalog.offers[index]!.id,
      ({ index, reasons }) => {
        const { id, lenderName } = catalog.offers[index]!;
        const { dailyCap, budget } = limitsOf.get(index)!;
        return {
          svc_offer_id: id,
          lender_name: lenderName,
          state: reasons[0] ?? 'shown',
          reasons,
          daily_cap: dailyCap,
          budget: budget && toBudgetJson(budget),
          last_30_days: totalsById && toTotalJson(totalsById.get(id)!),
        };
      },
    ),
  });
}

interface OfferInState {
  /** Index in the catalog. */
  readonly index: number;
  readonly reasons: readonly OfferState[];
}

function isOfferState(text: string): text is OfferState {
  return (offerStates as readonly string[]).includes(text);
}

/** Returns the index of the first offer whose id follows `cursor`; 0 without a cursor. Offers are sorted by id. */
function findOfferAfter({ offers }: CompiledCatalog, cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  let [low, high] = [0, offers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (offers[middle]!.id > cursor) high = middle;
    else low = middle + 1;
  }
  return low;
}

function toBudgetJson({ budget, spent, spentByHour, pacing }: BudgetState) {
  const toPeriod = (limitMicros: number | null, spentMicros: number | undefined) =>
    limitMicros === null
      ? null
      : { limit_usd: microsToUsd(limitMicros), spent_usd: spentMicros === undefined ? null : microsToUsd(spentMicros) };
  return {
    pacing: budget.pacing,
    day: toPeriod(budget.perDayMicros, spent?.day),
    month: toPeriod(budget.perMonthMicros, spent?.month),
    spent_today_usd: spent && microsToUsd(spent.day),
    spent_by_hour_usd: spentByHour?.map(microsToUsd) ?? null,
    even_pacing: pacing && {
      day_budget_usd: microsToUsd(pacing.dayBudgetMicros),
      target_usd: microsToUsd(pacing.targetMicros),
      target_by_hour_usd: pacing.targetByHour.map(microsToUsd),
      hidden_until: formatIsoTimestampOrNull(pacing.hiddenUntilMs),
    },
  };
}

function toTotalJson({ shown, clicks, attributedMicros, confirmedMicros }: OfferTotal) {
  return {
    shown,
    offer_clicks: clicks,
    rev_attributed: microsToUsd(attributedMicros),
    rev_confirmed: microsToUsd(confirmedMicros),
  };
}
