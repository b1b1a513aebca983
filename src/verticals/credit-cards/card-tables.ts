import { findFieldIndex, getChoiceValues } from '../../domain/field-vector.ts';
import { usdToMicros } from '../../domain/money.ts';
import type { Vertical } from '../../domain/vertical.ts';
import {
  type ChoiceFieldRule,
  compileCommonTables,
  listOffersSortedById,
  type MatchTables,
  rowOf,
} from '../../matching/match-tables.ts';
import { ratioInMillionths } from '../common/ratio-in-millionths.ts';
import {
  bandFirstYearFactorIndexes,
  offerFirstYearFactorIndexes,
  toHundredths,
  writeBandFirstYearFactors,
  writeOfferFirstYearFactors,
} from './first-year-factors.ts';
import { type CardCatalog, type CardOffer, purposeFieldName } from './offer-schema.ts';

const annualFeeFieldName = 'annual_fee_accepted';

/**
 * Tables that only card catalogs have. The tables of figures contain 32-bit records one after the other. Reading figures from memory takes
 * longer than pricing an offer, so the figures that pricing needs are in as few cache lines as possible.
 */
export interface CardTables extends MatchTables {
  /** Values of the credit band field, from worst to best. */
  readonly bandNames: readonly string[];
  /** Positions of the fields that prices depend on in the field vector of a borrower. */
  readonly fields: CardFieldIndexes;
  /** 1 if an offer is for a credit band, otherwise 0; by row. */
  readonly isServed: Uint8Array;
  /** Records of `offerRecordLength` numbers, one record for each offer (`offerFigureIndexes`). */
  readonly offerFigures: Uint32Array;
  /** Records of rows (`bandFigureIndexes`, `computeBandRecordIndex`). */
  readonly bandFigures: Uint32Array;
}

type CardFieldIndexes = Readonly<
  Record<'purpose' | 'creditBand' | 'monthlySpend' | 'transferAmount' | 'carriedBalance', number>
>;

/** Position of each figure in a record of `CardTables.offerFigures`: the factors of the first-year value, then figures for rankings. */
export const offerFigureIndexes = {
  ...offerFirstYearFactorIndexes,
  /** Star rating, in millionths of the range from one star to five stars. */
  starsMillionths: 6,
  /** Largest balance or transfer in whole USD: the largest deposit of a secured card; `unlimitedBalance` for other cards. */
  balanceMaxUsd: 7,
} as const;

/** Value of `balanceMaxUsd` above every amount that a borrower can submit. */
const unlimitedBalance = 2 ** 32 - 1;

export const offerRecordLength = Object.keys(offerFigureIndexes).length;

/** Position of each figure in a record of `CardTables.bandFigures`: the factors of the first-year value, then figures for rankings. */
export const bandFigureIndexes = {
  ...bandFirstYearFactorIndexes,
  /** Purchase APR range as a number for sorting: by the lower end of the range, then by the upper end. */
  aprSortKey: 2,
  approvalMillionths: 3,
} as const;
const bandRecordLength = Object.keys(bandFigureIndexes).length;

/** Returns the index of the first number of a record in `CardTables.bandFigures`. */
export function computeBandRecordIndex(tables: CardTables, offer: number, creditBand: number): number {
  return rowOf(tables, offer, creditBand) * bandRecordLength;
}

/** Compiles a catalog that `parseCatalog` accepted for this vertical. */
export function compileCardTables(catalog: CardCatalog, vertical: Vertical): CardTables {
  const offers = listOffersSortedById<CardCatalog['lenders'][number]>(catalog).map(({ offer }) => offer);
  const bandNames = getChoiceValues(vertical, vertical.roles.creditBand);
  const rows = offers.length * bandNames.length;
  const tables = {
    ...compileCommonTables(offers, catalog.state_rules, vertical, cardFieldRules(vertical)),
    bandNames,
    fields: {
      purpose: findFieldIndex(vertical, purposeFieldName),
      creditBand: findFieldIndex(vertical, vertical.roles.creditBand),
      monthlySpend: findFieldIndex(vertical, 'monthly_spend'),
      transferAmount: findFieldIndex(vertical, 'transfer_amount'),
      carriedBalance: findFieldIndex(vertical, 'carried_balance'),
    },
    isServed: new Uint8Array(rows),
    offerFigures: new Uint32Array(offers.length * offerRecordLength),
    bandFigures: new Uint32Array(rows * bandRecordLength),
  } satisfies CardTables;
  for (const [index, offer] of offers.entries()) writeOffer(tables, index, offer);
  return tables;
}

function writeOffer(tables: CardTables, index: number, offer: CardOffer): void {
  const { bandNames, offerFigures, bandFigures } = tables;
  const record = index * offerRecordLength;
  // A click has the same value in every credit band, because the issuer pays for the click itself.
  for (const band of bandNames.keys()) {
    tables.expectedRevenueMicros[rowOf(tables, index, band)] = usdToMicros(offer.payout_usd);
  }
  writeOfferFirstYearFactors(offer, offerFigures, record);
  offerFigures[record + offerFigureIndexes.starsMillionths] = ratioInMillionths(offer.stars - 1, 4);
  offerFigures[record + offerFigureIndexes.balanceMaxUsd] = Math.floor(offer.security_deposit_max ?? unlimitedBalance);
  for (const [name, band] of Object.entries(offer.bands)) {
    const creditBand = bandNames.indexOf(name);
    const bandRecord = computeBandRecordIndex(tables, index, creditBand);
    tables.isServed[rowOf(tables, index, creditBand)] = 1;
    writeBandFirstYearFactors(offer, band, bandFigures, bandRecord);
    bandFigures[bandRecord + bandFigureIndexes.aprSortKey] =
      toHundredths(band.purchase_apr.min) * 4_096 + toHundredths(band.purchase_apr.max);
    bandFigures[bandRecord + bandFigureIndexes.approvalMillionths] = ratioInMillionths(band.approval_likelihood, 1);
  }
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
