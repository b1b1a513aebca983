import { findFieldIndex, getChoiceValues, listAllowedValues } from '../../domain/field-vector.ts';
import { usdToMicros } from '../../domain/money.ts';
import type { Vertical } from '../../domain/vertical.ts';
import {
  type ChoiceFieldRule,
  compileCommonTables,
  indexFirstItems,
  listOffersSortedById,
  type MatchTables,
  rowOf,
} from '../../matching/match-tables.ts';
import {
  getInsuranceKind,
  getRateAdjustment,
  getRateType,
  listOfferPrices,
  type MortgageCatalog,
  type MortgageLender,
  type MortgageOffer,
  privateInsuranceLtvPercent,
} from './offer-schema.ts';
import { computeLoanIndependentScore } from './recommendation-score.ts';
import { ScheduleCollector, type ScheduleTables } from './schedule-tables.ts';

/** Kinds of mortgage insurance. `MortgageTables.insurance` contains the indexes in this list. */
const insuranceKinds = ['none', 'private', 'fha', 'usda'] as const;
export const noInsuranceKind = insuranceKinds.indexOf('none');
export const privateInsuranceKind = insuranceKinds.indexOf('private');
export const fhaInsuranceKind = insuranceKinds.indexOf('fha');

/** Value in `MortgageTables.localTerm` for a term that an offer does not have. */
export const missingTermMarker = 255;

/** Loan-to-value ratios are whole hundredths of a percent, rounded down: this factor converts a loan over a value to a ratio. */
const ltvScale = 10_000;

/** Returns the loan-to-value ratio in hundredths of a percent, rounded down. Every comparison of a loan with its value uses this ratio. */
export function computeLtvHundredths(loanUsd: number, valueUsd: number): number {
  return Math.floor((loanUsd * ltvScale) / valueUsd);
}

/** Returns the largest loan in whole USD whose loan-to-value ratio, rounded down, is at most `ltvHundredths`. */
export function computeLargestLoanAtLtv(ltvHundredths: number, valueUsd: number): number {
  return Math.ceil(((ltvHundredths + 1) * valueUsd) / ltvScale) - 1;
}

/**
 * Position of each figure among the `figuresPerSlot` numbers of a slot in `MortgageTables.prices`. Points and premiums are in thousandths of a
 * percent, fees in USD. The figures of a slot are adjacent, because reading memory takes most of the time of a ranking.
 */
export const scheduleFigureIndex = 0;
export const pointsFigureIndex = 1;
export const lenderFeesFigureIndex = 2;
export const prepaidDaysFigureIndex = 3;
export const upfrontPremiumFigureIndex = 4;
/** Yearly premium; 0 in the slots of loans without mortgage insurance. */
export const annualPremiumFigureIndex = 5;
/** Number of values per slot. Two values are unused, so that the 16 bytes of a slot are in one cache line. */
const figuresPerSlot = 8;

/**
 * Tables that only mortgage catalogs have. A *row* is a combination of offer and credit band. A *slot* is a price: a combination of offer,
 * credit band, loan-to-value band and term. `findPricePosition` computes the position of a slot.
 */
export interface MortgageTables extends MatchTables {
  readonly fields: ReturnType<typeof findFields>;
  /** Values of the field `loan_purpose` in the field vector of a borrower. */
  readonly purposes: ReturnType<typeof findPurposes>;
  /** Values of the field for the term, in months, ascending. A set of terms is a number with one bit for each of these values. */
  readonly termMonths: readonly number[];
  /** For each requested term, all terms by their distance to it, nearest first. Of two terms at the same distance, the shorter is first. */
  readonly termPreference: Uint8Array;
  /** Index of the term that is preferred if none is requested: the value nearest to 360 months. */
  readonly defaultTerm: number;
  /** For each set of terms, the index of each term within the set; `missingTermMarker` for a term that is not in the set. */
  readonly localTerm: Uint8Array;

  /** NMLS id of the lender of each offer. */
  readonly nmlsIds: readonly string[];
  readonly amountMin: Uint32Array;
  readonly amountMax: Uint32Array;
  /** Highest debt-to-income ratio of each offer, in hundredths of a percent; 0 if the offer has no limit. */
  readonly debtToIncomeMax: Uint16Array;
  /** Kind of mortgage insurance of each offer, as an index in `insuranceKinds`. */
  readonly insurance: Uint8Array;
  /** Set of the terms of each offer. */
  readonly offeredTerms: Uint8Array;
  readonly termCount: Uint8Array;
  /** Index of the first loan-to-value band of each offer in `ltvMax`, followed by the total number of bands. */
  readonly firstLtvBand: Uint32Array;
  /** Highest loan-to-value ratio of each loan-to-value band, in hundredths of a percent. */
  readonly ltvMax: Uint16Array;
  readonly firstSlot: Uint32Array;

  /** Highest loan-to-value ratio by row, in hundredths of a percent; 0 if the offer does not serve the credit band. */
  readonly rowLtvMax: Uint16Array;
  /** Part of the `recommended` score that does not depend on the loan, by row, in hundredths of a millionth (`computeLoanIndependentScore`). */
  readonly fixedScore: Uint32Array;

  /** Prices by slot: the number of the schedule and the other figures. */
  readonly prices: Uint16Array;
  readonly schedules: ScheduleTables;
}

/** Returns the position of a slot in `MortgageTables.prices`. `localTerm` is the index of the term among the terms of the offer. */
export function findPricePosition(
  { firstLtvBand, firstSlot }: Pick<MortgageTables, 'firstLtvBand' | 'firstSlot'>,
  offer: number,
  band: number,
  ltvBand: number,
  localTerm: number,
): number {
  const ltvBands = firstLtvBand[offer + 1]! - firstLtvBand[offer]!;
  const slotsPerBand = firstSlot[firstSlot.length - 1]!;
  return (band * slotsPerBand + firstSlot[offer]! + localTerm * ltvBands + ltvBand) * figuresPerSlot;
}

/** Compiles a catalog that `parseCatalog` accepted for this vertical. */
export function compileMortgageTables(catalog: MortgageCatalog, vertical: Vertical): MortgageTables {
  const numbered = listOffersSortedById<MortgageLender>(catalog);
  const offers = numbered.map(({ offer }) => offer);
  const bands = getChoiceValues(vertical, vertical.roles.creditBand);
  const common = compileCommonTables(offers, catalog.state_rules, vertical, mortgageFieldRules(vertical));
  const terms = compileTerms(vertical);
  const termCount = Uint8Array.from(offers, (offer) => Object.keys(offer.terms).length);
  const firstSlot = indexFirstItems(offers.map(({ ltv_bands }, at) => ({ length: ltv_bands.length * termCount[at]! })));
  const slots = bands.length * firstSlot[offers.length]!;
  const collector = new ScheduleCollector();
  const tables = {
    ...common,
    ...terms,
    fields: findFields(vertical),
    purposes: findPurposes(vertical),
    nmlsIds: numbered.map(({ lender }) => lender.nmls_id),
    amountMin: Uint32Array.from(offers, ({ amount }) => amount.min),
    amountMax: Uint32Array.from(offers, ({ amount }) => amount.max),
    debtToIncomeMax: Uint16Array.from(offers, (offer) => Math.round((offer.max_debt_to_income_percent ?? 0) * 100)),
    insurance: Uint8Array.from(offers, (offer) => insuranceKinds.indexOf(getInsuranceKind(offer))),
    offeredTerms: Uint8Array.from(offers, (offer) =>
      Object.keys(offer.terms).reduce((set, term) => set | (1 << terms.termMonths.indexOf(Number(term))), 0),
    ),
    termCount,
    firstLtvBand: indexFirstItems(offers.map(({ ltv_bands }) => ltv_bands)),
    ltvMax: Uint16Array.from(
      offers.flatMap(({ ltv_bands }) => ltv_bands),
      ({ max_ltv_percent }) => Math.round(max_ltv_percent * 100),
    ),
    firstSlot,
    rowLtvMax: new Uint16Array(offers.length * bands.length),
    fixedScore: new Uint32Array(offers.length * bands.length),
    prices: new Uint16Array(slots * figuresPerSlot),
  };
  for (const [index, offer] of offers.entries()) fillOffer(tables, index, offer, bands, collector);
  return { ...tables, schedules: collector.compileScheduleTables() };
}

/** Writes the values of an offer that depend on the credit band, the loan-to-value band or the term. */
function fillOffer(
  tables: Omit<MortgageTables, 'schedules'>,
  index: number,
  offer: MortgageOffer,
  bands: readonly string[],
  collector: ScheduleCollector,
): void {
  const payoutMicros = usdToMicros(offer.payout_usd);
  for (const [name, band] of Object.entries(offer.bands)) {
    const row = rowOf(tables, index, bands.indexOf(name));
    tables.rowLtvMax[row] = Math.round(band.max_ltv_percent * 100);
    tables.fixedScore[row] = computeLoanIndependentScore(band.approval_likelihood, offer.stars);
    // A click is worth the payout of a lead times the share of clicks that become accepted leads.
    tables.expectedRevenueMicros[row] = Math.round(payoutMicros * band.confirm_rate);
  }
  const { prices } = tables;
  const scheduleOf = collector.createScheduleAdder(getRateAdjustment(offer));
  const isPrivate = getInsuranceKind(offer) === 'private';
  for (const { creditBand, ltvBand, term, price } of listOfferPrices(offer)) {
    const months = Number(term);
    const localTerm =
      tables.localTerm[tables.offeredTerms[index]! * tables.termMonths.length + tables.termMonths.indexOf(months)]!;
    const slot = findPricePosition(tables, index, bands.indexOf(creditBand), ltvBand, localTerm);
    prices[slot + scheduleFigureIndex] = scheduleOf(price.rate_percent, months);
    prices[slot + pointsFigureIndex] = price.points_percent;
    prices[slot + lenderFeesFigureIndex] = price.lender_fees_usd;
    prices[slot + prepaidDaysFigureIndex] = price.prepaid_interest_days;
    prices[slot + upfrontPremiumFigureIndex] = price.upfront_premium_percent;
    // Loans up to 80 % have no private mortgage insurance. No loan-to-value band contains loans on both sides of 80 %.
    const isExempt = isPrivate && offer.ltv_bands[ltvBand]!.max_ltv_percent <= privateInsuranceLtvPercent;
    prices[slot + annualPremiumFigureIndex] = isExempt ? 0 : price.annual_premium_percent;
  }
}

/** Finds the positions of the fields that prices depend on, in the borrower's field vector. */
function findFields(vertical: Vertical) {
  const { creditBand, annualIncome, monthlyDebt, term } = vertical.roles;
  return {
    purpose: findFieldIndex(vertical, 'loan_purpose'),
    value: findFieldIndex(vertical, 'property_value'),
    creditBand: findFieldIndex(vertical, creditBand),
    annualIncome: findFieldIndex(vertical, annualIncome),
    downPayment: findFieldIndex(vertical, 'down_payment'),
    balance: findFieldIndex(vertical, 'mortgage_balance'),
    cashOut: findFieldIndex(vertical, 'cash_out_amount'),
    monthlyDebt: findFieldIndex(vertical, monthlyDebt),
    term: findFieldIndex(vertical, term),
  };
}

function findPurposes(vertical: Vertical) {
  const values = getChoiceValues(vertical, 'loan_purpose');
  return {
    purchase: values.indexOf('purchase'),
    refinance: values.indexOf('refinance'),
    cashOut: values.indexOf('cash_out'),
  };
}

function compileTerms(vertical: Vertical) {
  const field = vertical.fields[findFieldIndex(vertical, vertical.roles.term)]!;
  const termMonths = (listAllowedValues(field) as number[]).toSorted((one, other) => one - other);
  const byDistance = (wanted: number) =>
    termMonths
      .map((months, term) => ({ distance: Math.abs(months - wanted), term }))
      .sort((one, other) => one.distance - other.distance || one.term - other.term)
      .map(({ term }) => term);
  const sets = 1 << termMonths.length;
  const localTerm = new Uint8Array(sets * termMonths.length).fill(missingTermMarker);
  for (let set = 0; set < sets; set++) {
    let place = 0;
    for (let term = 0; term < termMonths.length; term++) {
      if ((set & (1 << term)) !== 0) localTerm[set * termMonths.length + term] = place++;
    }
  }
  return {
    termMonths,
    termPreference: Uint8Array.from(termMonths.flatMap(byDistance)),
    defaultTerm: byDistance(360)[0]!,
    localTerm,
  };
}

/** Creates rules that apply in addition to the criteria of offers: one rule for the credit band, and one rule for the rate type. */
function mortgageFieldRules({ roles }: Vertical): ChoiceFieldRule<MortgageOffer>[] {
  return [
    {
      field: roles.creditBand,
      admits: (offer, value) => value === undefined || offer.bands[value as string] !== undefined,
    },
    { field: 'rate_type', admits: (offer, value) => value === undefined || getRateType(offer) === value },
  ];
}
