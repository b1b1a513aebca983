import type { FieldVector } from '../../../src/domain/field-vector.ts';
import { creditCards } from '../../../src/verticals/credit-cards/credit-cards.ts';
import type { CardCatalog, CardOffer } from '../../../src/verticals/credit-cards/offer-schema.ts';
import type { ReferenceOrders } from '../../matching/priced-rankings.ts';
import { ageOn, listSubmittedValues, meetsCriteria } from '../../matching/reference-criteria.ts';
import { today } from './card-fixtures.ts';

/** A card that a borrower can get, according to the plain rules. */
export interface ReferenceCard {
  readonly id: string;
  readonly firstYearCents: number;
  readonly aprRange: { readonly min: number; readonly max: number };
  readonly score: number;
  readonly payoutUsd: number;
}

/** Amounts that first-year values depend on, in USD. */
export interface ReferenceAmounts {
  readonly monthlySpend: number;
  readonly transferAmount: number;
  readonly carriedBalance: number;
}

/**
 * Finds and prices the cards of a catalog file for a borrower, card by card and month by month, without tables. The rules are those of
 * docs/verticals/credit-cards.md, independent of the ranker.
 */
export function findReferenceCards(catalog: CardCatalog, borrower: Readonly<FieldVector>): ReferenceCard[] {
  const values = listSubmittedValues(creditCards, borrower);
  const { credit_score_range: band, state, card_purpose: purpose } = values as Readonly<Record<string, string>>;
  if (band === undefined || state === undefined || purpose === undefined) return [];
  const minAge = catalog.state_rules?.[state]?.min_age ?? 0;
  if (values.birthdate !== undefined && ageOn(values.birthdate as number, today) < minAge) return [];
  const amounts = {
    monthlySpend: Number(values.monthly_spend ?? 0),
    transferAmount: Number(values.transfer_amount ?? 0),
    carriedBalance: Number(values.carried_balance ?? 0),
  };
  return catalog.lenders
    .flatMap(({ offers }) => offers)
    .filter((offer) => {
      if (!offer.purposes.includes(purpose) || offer.bands[band] === undefined) return false;
      const fees = [offer.annual_fee, offer.annual_fee_first_year ?? 0];
      if (values.annual_fee_accepted === false && fees.some((fee) => fee > 0)) return false;
      const largestDeposit = offer.security_deposit_max ?? Number.POSITIVE_INFINITY;
      if (amounts.transferAmount > largestDeposit || amounts.carriedBalance > largestDeposit) return false;
      return meetsCriteria(offer.criteria, values, today);
    })
    .map((offer) => priceCard(offer, band, amounts));
}

export const cardOrders: ReferenceOrders<ReferenceCard> = {
  recommended: (one, other) => other.score - one.score,
  lowest_apr: (one, other) => one.aprRange.min - other.aprRange.min || one.aprRange.max - other.aprRange.max,
  highest_amount: (one, other) => other.firstYearCents - one.firstYearCents,
  svc_revenue: (one, other) => other.payoutUsd - one.payoutUsd,
};

function priceCard(offer: CardOffer, bandName: string, amounts: ReferenceAmounts): ReferenceCard {
  const band = offer.bands[bandName]!;
  const firstYearCents = simulateFirstYearCents(offer, bandName, amounts);
  const { monthlySpend, transferAmount, carriedBalance } = amounts;
  const largeCents = 100 * (200 + 0.01 * 12 * monthlySpend + 0.1 * (transferAmount + carriedBalance));
  const size = Math.abs(firstYearCents) + Math.round(largeCents);
  const score =
    50 * millionths(size + firstYearCents, 2 * size) +
    35 * millionths(band.approval_likelihood, 1) +
    15 * millionths(offer.stars - 1, 4);
  return {
    id: offer.id,
    firstYearCents,
    aprRange: band.purchase_apr,
    score: Math.round(score / 100),
    payoutUsd: offer.payout_usd,
  };
}

function millionths(part: number, whole: number): number {
  return Math.round((1_000_000 * part) / whole);
}

/** Parts of a USD in which `simulateFirstYearCents` counts: months, parts of principal, hundredths of a percent, halves of a range. */
const partsPerUsd = 12n * 12n * 10_000n * 2n;

/** Simulates the first year of a card month by month with exact fractions. Returns the first-year value, rounded half up to cents. */
export function simulateFirstYearCents(
  offer: CardOffer,
  bandName: string,
  { monthlySpend, transferAmount, carriedBalance }: ReferenceAmounts,
): number {
  const { purchase_apr, transfer_apr = purchase_apr } = offer.bands[bandName]!;
  const basePercent = offer.rewards.find(({ category }) => category === 'base')!.percent;
  let value = -usdParts(offer.annual_fee_first_year ?? offer.annual_fee);
  if (transferAmount > 0) {
    const share = (BigInt(transferAmount) * hundredths(offer.transfer_fee.percent) * partsPerUsd) / 10_000n;
    const min = usdParts(offer.transfer_fee.min);
    value -= share > min ? share : min;
  }
  let spent = 0;
  for (let month = 1; month <= 12; month++) {
    value += (BigInt(monthlySpend) * hundredths(basePercent) * partsPerUsd) / 10_000n;
    spent += monthlySpend;
    if (offer.bonus?.months === month && spent >= offer.bonus.spend) value += usdParts(offer.bonus.value);
    for (const [balance, range, intro] of [
      [carriedBalance, purchase_apr, offer.intro_purchase_apr],
      [transferAmount, transfer_apr, offer.intro_transfer_apr],
    ] as const) {
      // The balance at the start of the month, in twelfths, and twice the annual rate, in hundredths of a percent.
      const opening = BigInt(balance * (13 - month));
      const twiceRate =
        intro !== undefined && month <= intro.months
          ? 2n * hundredths(intro.percent)
          : hundredths(range.min) + hundredths(range.max);
      value -= opening * twiceRate;
    }
  }
  return Number(floorDivide(value * 200n + partsPerUsd, 2n * partsPerUsd));
}

function usdParts(usd: number): bigint {
  return (hundredths(usd) * partsPerUsd) / 100n;
}

function hundredths(value: number): bigint {
  return BigInt(value.toFixed(2).replace('.', ''));
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value < 0n && quotient * by !== value ? quotient - 1n : quotient;
}
