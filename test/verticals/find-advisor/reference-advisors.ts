import type { FieldVector } from '../../../src/domain/field-vector.ts';
import { findAdvisor } from '../../../src/verticals/find-advisor/find-advisor.ts';
import type { AdvisorCatalog, AdvisorOffer } from '../../../src/verticals/find-advisor/offer-schema.ts';
import type { ReferenceOrders } from '../../matching/priced-rankings.ts';
import { ageOn, type FieldValues, listSubmittedValues, meetsCriteria } from '../../matching/reference-criteria.ts';
import { today } from './advisor-fixtures.ts';

/** Figures of one matching advisor according to the rules of docs/verticals/find-advisor.md, without tables and without code of src. */
export interface ReferenceAdvisor {
  readonly id: string;
  readonly feeCents: number;
  readonly minimumAssets: number;
  readonly score: number;
  readonly payout: number;
}

/** Returns the matching advisors of a catalog, in the order of the file. */
export function referenceAdvisors(catalog: AdvisorCatalog, borrower: Readonly<FieldVector>): ReferenceAdvisor[] {
  const values = listSubmittedValues(findAdvisor, borrower);
  const minimumAge = catalog.state_rules?.[values.state as string]?.min_age ?? 0;
  if (values.birthdate !== undefined && ageOn(values.birthdate as number, today) < minimumAge) return [];
  return catalog.lenders.flatMap(({ offers }) => offers.flatMap((offer) => referenceAdvisor(offer, values) ?? []));
}

function referenceAdvisor(offer: AdvisorOffer, values: FieldValues): ReferenceAdvisor | null {
  const { advice_topic: topic, meeting_preference: preference } = values;
  const assets = values.investable_assets as number | undefined;
  if (assets === undefined || assets < offer.minimum_assets || !meetsCriteria(offer.criteria, values, today))
    return null;
  if (!offer.services.includes(topic as string)) return null;
  const meetings = offer.meeting === 'both' ? ['in_person', 'remote'] : [offer.meeting];
  if (preference !== undefined && preference !== 'either' && !meetings.includes(preference as string)) return null;

  const feeCents = referenceFeeCents(offer, assets);
  const known = Math.max(assets, 50_000);
  const parts = [
    [30, (7 - offer.services.indexOf(topic as string)) / 7],
    [40, known / (known + feeCents)],
    [10, [0, 0.5, 1][Math.min(2, offer.credentials.length)]!],
    [20, (offer.stars - 1) / 4],
  ] as const;
  return {
    id: offer.id,
    feeCents,
    minimumAssets: offer.minimum_assets,
    score: parts.reduce((sum, [weight, value]) => sum + weight * Math.round(1e6 * value), 0),
    payout: offer.payout_usd,
  };
}

/** Computes the annual fee with integers of any size, from the digits of the catalog. The fee is rounded half up to cents. */
export function referenceFeeCents(offer: AdvisorOffer, assets: number): number {
  const { fee_tiers: tiers, fee_usd, hours_per_year = 1, estimated_annual_fee } = offer;
  if (tiers === undefined) return Number(toInteger(fee_usd ?? estimated_annual_fee!, 2)) * hours_per_year;
  // In thousandths of a cent: USD times percent times 1,000.
  const parts = tiers.map(({ from, percent }, at) => {
    const end = Math.min(assets, tiers[at + 1]?.from ?? assets);
    return BigInt(Math.max(0, end - from)) * toInteger(percent, 3);
  });
  return Number((parts.reduce((sum, part) => sum + part, 0n) + 500n) / 1_000n);
}

/** Reads the digits of a decimal number, such as 1.25 with three decimals as 1250. */
function toInteger(value: number, decimals: number): bigint {
  const [whole, fraction = ''] = String(value).split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

export const advisorOrders: ReferenceOrders<ReferenceAdvisor> = {
  recommended: (one, other) => other.score - one.score,
  lowest_apr: (one, other) => one.feeCents - other.feeCents,
  highest_amount: (one, other) => other.minimumAssets - one.minimumAssets,
  svc_revenue: (one, other) => other.payout - one.payout,
};
