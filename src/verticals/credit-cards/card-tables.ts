import { usdToMicros } from '../../domain/money.ts';
import {
  type ChoiceFieldRule,
  compileCommonTables,
  listOffersSortedById,
  type MatchTables,
} from '../../matching/match-tables.ts';
import { findFieldIndex, getChoiceValues } from '../field-vector.ts';
import type { Vertical } from '../vertical.ts';
import { compileFirstYearFactors, type FirstYearFactors } from './first-year-factors.ts';
import { type CardCatalog, type CardOffer, purposeFieldName } from './offer-schema.ts';

const annualFeeFieldName = 'annual_fee_accepted';

/** Tables that only card catalogs have. A *row* is a combination of offer and credit band. */
export interface CardTables extends MatchTables, FirstYearFactors {
  /** Values of the credit band field, from worst to best. */
  readonly bandNames: readonly string[];
  /** Positions of the fields that prices depend on in the field vector of a borrower. */
  readonly fields: CardFieldIndexes;
  /** 1 for each combination of offer and credit band that the offer serves. */
  readonly isServed: Uint8Array;
  /** Purchase APR range of each row, as one number that orders by the lower and then by the upper end. */
  readonly aprSortKey: Uint32Array;
  /** Approval likelihood of each row, in millionths. */
  readonly approvalMillionths: Uint32Array;
  /** Star rating of each offer, in millionths of the range from one star to five stars. */
  readonly starsMillionths: Uint32Array;
}

type CardFieldIndexes = Readonly<
  Record<'purpose' | 'creditBand' | 'monthlySpend' | 'transferAmount' | 'carriedBalance', number>
>;

/** Compiles a catalog that `parseCatalog` accepted for this vertical. */
export function compileCardTables(catalog: CardCatalog, vertical: Vertical): CardTables {
  const numbered = listOffersSortedById<CardCatalog['lenders'][number]>(catalog);
  const offers = numbered.map(({ offer }) => offer);
  const bandNames = getChoiceValues(vertical, vertical.roles.creditBand);
  const rows = offers.length * bandNames.length;
  const tables = {
    ...compileCommonTables(
      { name: 'credit_card', bandCount: bandNames.length },
      offers,
      catalog.state_rules,
      vertical,
      cardFieldRules(vertical),
    ),
    ...compileFirstYearFactors(offers, bandNames),
    bandNames,
    fields: {
      purpose: findFieldIndex(vertical, purposeFieldName),
      creditBand: findFieldIndex(vertical, vertical.roles.creditBand),
      monthlySpend: findFieldIndex(vertical, 'monthly_spend'),
      transferAmount: findFieldIndex(vertical, 'transfer_amount'),
      carriedBalance: findFieldIndex(vertical, 'carried_balance'),
    },
    isServed: new Uint8Array(rows),
    aprSortKey: new Uint32Array(rows),
    approvalMillionths: new Uint32Array(rows),
    starsMillionths: Uint32Array.from(offers, ({ stars }) => Math.round(((stars - 1) / 4) * 1_000_000)),
  } satisfies CardTables;

  for (const [index, offer] of offers.entries()) {
    const firstRow = index * bandNames.length;
    // A click has the same value in every credit band, because the issuer pays for the click itself.
    tables.expectedRevenueMicros.fill(usdToMicros(offer.payout_usd), firstRow, firstRow + bandNames.length);
    for (const [name, { purchase_apr, approval_likelihood }] of Object.entries(offer.bands)) {
      const row = firstRow + bandNames.indexOf(name);
      tables.isServed[row] = 1;
      tables.aprSortKey[row] = Math.round(purchase_apr.min * 100) * 4_096 + Math.round(purchase_apr.max * 100);
      tables.approvalMillionths[row] = Math.round(approval_likelihood * 1_000_000);
    }
  }
  return tables;
}

/** Creates the rules that apply in addition to the criteria of offers (docs/verticals/credit-cards.md#eligibility). */
function cardFieldRules(vertical: Vertical): ChoiceFieldRule<CardOffer>[] {
  return [
    { field: purposeFieldName, admits: ({ purposes }, value) => value === undefined || purposes.includes(`${value}`) },
    {
      field: vertical.roles.creditBand,
      admits: ({ bands }, value) => value === undefined || bands[`${value}`] !== undefined,
    },
    { field: annualFeeFieldName, admits: (offer, value) => value !== false || !hasAnnualFee(offer) },
  ];
}

/** Whether a card has an annual fee in some year. A card whose fee is waived only in the first year has an annual fee. */
export function hasAnnualFee({ annual_fee, annual_fee_first_year = annual_fee }: CardOffer): boolean {
  return annual_fee > 0 || annual_fee_first_year > 0;
}
