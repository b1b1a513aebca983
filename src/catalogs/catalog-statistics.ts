import { absentValue, findFieldIndex, getChoiceValues, listAllowedValues } from '../domain/field-vector.ts';
import type { PocketField, Vertical } from '../domain/vertical.ts';
import {
  encodeChoiceValue,
  listOffersSortedById,
  type MatchTables,
  meetsOfferCriteria,
} from '../matching/match-tables.ts';
import { hasOffer } from '../matching/offer-set.ts';
import type { CatalogFile, CatalogOffer } from './catalog-schema.ts';

export interface NumberSummary {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

export type CatalogStatistics = ReturnType<typeof computeCatalogStatistics>;

/** Statistics that depend on the product of a vertical. */
export interface ProductStatistics<Offer extends CatalogOffer> {
  readonly groupedBy: string;
  /** Summarizes groups of offers or prices, such as one group for each credit band. `offers` is sorted by id. */
  readonly summarizeGroups: (offers: readonly Offer[]) => readonly OfferGroupStatistics[];
  /**
   * Maps the name of an optional member of the catalog format to a function that returns whether an offer uses this member. The statistics
   * contain the number of offers that use the member.
   */
  readonly usage: Readonly<Record<string, (offer: Offer) => boolean>>;
  /** Payout model of an offer. Default: the revenue model of the vertical. */
  readonly payoutModelOf?: (offer: Offer) => Vertical['revenueModel'];
  /** Whether the rules of the catalog, apart from criteria, allow an offer in a state. Offer and state are indexes. Default: all states. */
  readonly isAllowedInState?: (offer: number, state: number) => boolean;
}

export interface OfferGroupStatistics {
  readonly name: string;
  /** Number of offers in the group. */
  readonly offers: number;
  readonly figures: Readonly<Record<string, NumberSummary | null>>;
}

export type FieldCoverage = CatalogStatistics['coverage'][number];

/** Computes the statistics of a catalog that `parseCatalog` accepted for this vertical. */
export function computeCatalogStatistics<Offer extends CatalogOffer>(
  catalog: CatalogFile,
  vertical: Vertical,
  tables: MatchTables,
  product: ProductStatistics<Offer>,
) {
  const { payoutModelOf = () => vertical.revenueModel, isAllowedInState = () => true } = product;
  const offers = listOffersSortedById(catalog).map(({ offer }) => offer as Offer);
  const states = getChoiceValues(vertical, vertical.roles.state);
  const shownIn = offers.map((_offer, at) => states.map((_state, state) => isAllowedInState(at, state)));
  const count = (holds: (offer: Offer, at: number) => boolean) => offers.filter(holds).length;
  const paid = (model: Vertical['revenueModel']) => {
    const some = offers.filter((offer) => payoutModelOf(offer) === model);
    return { offers: some.length, usd: summarizeNumbers(some.map(({ payout_usd }) => payout_usd)) };
  };
  const usage: ProductStatistics<Offer>['usage'] = {
    criteria: ({ criteria }) => criteria.length > 0,
    ...product.usage,
    daily_cap: ({ daily_cap }) => daily_cap !== undefined,
    budget: ({ budget }) => budget !== undefined,
    prequalification: ({ prequalification }) => prequalification,
  };
  return {
    lenders: catalog.lenders.length,
    offers: offers.length,
    grouped_by: product.groupedBy,
    groups: product.summarizeGroups(offers),
    /** For each value of a field, the number of offers that accept a borrower with this value under the state rules. */
    coverage: vertical.fields
      .filter((field) => isCoverageField(field, vertical))
      .map((field) => {
        const position = findFieldIndex(vertical, field.name);
        // If no offer has a criterion on the field, the field has no filter.
        const filter = tables.choiceFilters.find((candidate) => candidate.field === position);
        const open = (code: number, shown: (at: number) => boolean) =>
          count((_offer, at) => shown(at) && (filter === undefined || hasOffer(filter.allowed.get(code)!, at)));
        const isState = field.name === vertical.roles.state;
        return {
          field: field.name,
          offers: Object.fromEntries(
            listAllowedValues(field).map((value, place) => [
              String(value),
              open(encodeChoiceValue(field, value, place), (at) => (isState ? shownIn[at]![place]! : true)),
            ]),
          ),
          not_told: vertical.required.includes(field.name) ? 0 : open(absentValue, () => true),
        };
      }),
    payouts: { cost_per_lead: paid('cost_per_lead'), cost_per_click: paid('cost_per_click') },
    /** Number of offers that use each optional member of the catalog format. */
    using: Object.fromEntries(Object.entries(usage).map(([name, isUsed]) => [name, count(isUsed)])),
    /** Ids of offers that no state allows. */
    never_shown: offers
      .filter(
        (offer, at) => !states.some((state, code) => shownIn[at]![code] && isOfferedInState(offer, state, vertical)),
      )
      .map(({ id }) => id),
  };
}

function isOfferedInState(offer: CatalogOffer, state: string, vertical: Vertical): boolean {
  const field = vertical.fields.find(({ name }) => name === vertical.roles.state);
  return field !== undefined && meetsOfferCriteria(offer, field, state);
}

function isCoverageField(field: PocketField, { neverMatched }: Vertical): boolean {
  return listAllowedValues(field).length > 0 && !neverMatched?.includes(field.name);
}

/**
 * Summarizes the figures of a group.
 *
 * @param figures functions that return the numbers of one offer, by the name of the figure
 */
export function summarizeGroup<Offer>(
  name: string,
  offers: readonly Offer[],
  figures: Readonly<Record<string, (offer: Offer) => number | readonly number[] | undefined>>,
): OfferGroupStatistics {
  const summaries = Object.entries(figures).map(([figure, listNumbers]) => {
    const numbers = offers.flatMap((offer) => listNumbers(offer) ?? []);
    return [figure, summarizeNumbers(numbers)] as const;
  });
  return { name, offers: offers.length, figures: Object.fromEntries(summaries) };
}

/** Returns the minimum, the median and the maximum, or null for an empty list. */
function summarizeNumbers(numbers: readonly number[]): NumberSummary | null {
  if (numbers.length === 0) return null;
  const sorted = Float64Array.from(numbers).sort();
  const middle = (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
  return { min: sorted[0]!, median: Math.round(middle * 1e6) / 1e6, max: sorted.at(-1)! };
}
