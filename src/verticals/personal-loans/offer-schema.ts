import Type, { type Static } from 'typebox';
import { bounds } from '../../bounds.ts';
import type { CatalogErrors, CatalogValuePath } from '../../catalogs/catalog-errors.ts';
import {
  ageYearsSchema,
  catalogSchema,
  commonOfferSchemas,
  createDictionarySchema,
  lenderSchema,
  optionalOfferDisclosureSchemas,
  strictObject,
} from '../../catalogs/catalog-schema.ts';
import { getChoiceValues } from '../../domain/field-vector.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { checkAdvertisedRates, type RateRange } from '../common/advertised-rates.ts';
import { computeAprPercent } from '../common/loan-math.ts';

/** Schema of the members that only the catalog files of loans have (docs/catalog.md). */

const percent = (maximum: number) => Type.Number({ minimum: 0, maximum });
const probability = Type.Number({ minimum: 0, maximum: 1 });
const amountUsd = Type.Integer({ minimum: 1, maximum: bounds.offerAmountUsdMax });
const noteRate = Type.Object({ min: percent(bounds.aprPercentMax), max: percent(bounds.aprPercentMax) }, strictObject);
const originationFee = percent(20);

const termPrice = Type.Object(
  { note_rate_percent: Type.Optional(noteRate), origination_fee_percent: Type.Optional(originationFee) },
  strictObject,
);

const band = Type.Object(
  {
    note_rate_percent: noteRate,
    origination_fee_percent: originationFee,
    terms: Type.Optional(createDictionarySchema(termPrice)),
    approval_likelihood: probability,
    confirm_rate: Type.Optional(probability),
    max_amount: amountUsd,
  },
  strictObject,
);

const stateLimits = {
  max_apr_percent: Type.Optional(percent(bounds.aprPercentMax)),
  min_amount: Type.Optional(amountUsd),
};
const lenderMembers = { state_rules: Type.Optional(createDictionarySchema(Type.Object(stateLimits, strictObject))) };

const offer = Type.Object(
  {
    ...commonOfferSchemas,
    ...optionalOfferDisclosureSchemas,
    amount: Type.Object({ min: amountUsd, max: amountUsd }, strictObject),
    term_months: Type.Array(Type.Integer({ minimum: 1, maximum: 480 }), {
      minItems: 1,
      maxItems: bounds.catalogTermsMax,
    }),
    min_credit_score: Type.Optional(Type.Integer({ minimum: 1, maximum: 999 })),
    max_debt_to_income_percent: Type.Optional(Type.Number({ minimum: 1, maximum: 100 })),
    joint_applications: Type.Optional(Type.Enum(['accepted', 'required', 'not_accepted'])),
    ...lenderMembers,
    bands: createDictionarySchema(band),
  },
  strictObject,
);

const fileMembers = {
  max_apr_percent: percent(bounds.aprPercentMax),
  state_rules: createDictionarySchema(
    Type.Object({ ...stateLimits, min_age: Type.Optional(ageYearsSchema) }, strictObject),
  ),
};

export const loanSchema = { fileMembers, lenderMembers, offer };

const lender = lenderSchema(lenderMembers, offer);
const catalog = catalogSchema(fileMembers, lender);

export type LoanCatalog = Static<typeof catalog>;
export type LoanLender = Static<typeof lender>;
export type LoanOffer = Static<typeof offer>;
export type LoanCreditBand = Static<typeof band>;

/** Reports limits and prices of a loan offer that contradict each other or that the vertical does not allow. */
export function validateLoanOffer(
  offer: LoanOffer,
  path: CatalogValuePath,
  vertical: Vertical,
  errors: CatalogErrors,
): void {
  const addError = (member: string, problem: string) => errors.add([...path, member], problem);
  if (new Set(offer.term_months).size < offer.term_months.length) addError('term_months', 'must not repeat a value');
  if (offer.amount.min > offer.amount.max) addError('amount', 'min must not exceed max');
  const { monthlyDebt, coBorrower } = vertical.roles;
  if (offer.max_debt_to_income_percent !== undefined && monthlyDebt === undefined) {
    addError('max_debt_to_income_percent', 'is not allowed, because the vertical has no field for monthly debt');
  }
  if (offer.joint_applications !== undefined && coBorrower === undefined) {
    addError('joint_applications', 'is not allowed, because the vertical has no co-borrower field');
  }
  checkMinCreditScore(offer, path, vertical, errors);
  const bandNames = getChoiceValues(vertical, vertical.roles.creditBand);
  const bands = Object.entries(offer.bands);
  if (bands.length === 0) addError('bands', 'must hold at least one band');
  for (const [name, band] of bands) {
    const bandPath = [...path, 'bands', name];
    if (!bandNames.includes(name)) errors.add(bandPath, `is not a value of ${vertical.roles.creditBand}`);
    checkBand(offer, band, bandPath, vertical, errors);
  }
  checkAdvertisedRates(offer.legal, [...path, 'legal'], errors, () => listAprRanges(offer));
}

function listAprRanges(offer: LoanOffer): RateRange[] {
  return Object.values(offer.bands).flatMap((band) =>
    offer.term_months.map((months) => {
      const { min, max, feePercent } = priceAtTerm(band, months);
      return { min: computeAprPercent(min, feePercent, months), max: computeAprPercent(max, feePercent, months) };
    }),
  );
}

/**
 * Reports an error if a catalog has too many different loan terms. The number of terms is limited, because a set of terms is stored as the
 * bits of one number.
 */
export function validateLoanTermCount(offers: readonly LoanOffer[], errors: CatalogErrors): void {
  const terms = new Set(offers.flatMap(({ term_months }) => term_months));
  if (terms.size > bounds.catalogTermsMax) {
    errors.add(['lenders'], `must name at most ${bounds.catalogTermsMax} different terms`);
  }
}

function checkMinCreditScore(
  offer: LoanOffer,
  path: CatalogValuePath,
  vertical: Vertical,
  errors: CatalogErrors,
): void {
  if (offer.min_credit_score === undefined) return;
  const memberPath = [...path, 'min_credit_score'];
  const bandNames = getChoiceValues(vertical, vertical.roles.creditBand);
  const served = bandNames.some(
    (name, band) => offer.bands[name] !== undefined && computeAcceptedScoreShare(offer, vertical, band) > 0,
  );
  if (vertical.creditScores === undefined) {
    errors.add(memberPath, 'is not allowed, because the vertical has no credit score ranges');
  } else if (!served && Object.keys(offer.bands).length > 0) {
    errors.add(memberPath, 'is above every score of the bands');
  }
}

function checkBand(
  offer: LoanOffer,
  band: LoanCreditBand,
  path: CatalogValuePath,
  vertical: Vertical,
  errors: CatalogErrors,
): void {
  checkRateRange(band.note_rate_percent, path, errors);
  if (band.max_amount < offer.amount.min) {
    errors.add([...path, 'max_amount'], 'is below amount.min of the offer');
  }
  if (band.confirm_rate === undefined && resolvePayoutModel(offer, vertical) === 'cost_per_lead') {
    errors.add([...path, 'confirm_rate'], 'is required if the payout model is cost_per_lead');
  }
  for (const [months, price] of Object.entries(band.terms ?? {})) {
    const termPath = [...path, 'terms', months];
    if (!offer.term_months.some((term) => String(term) === months)) errors.add(termPath, 'is not a term of the offer');
    if (Object.keys(price).length === 0) {
      errors.add(termPath, 'must hold note_rate_percent, origination_fee_percent, or both');
    }
    if (price.note_rate_percent !== undefined) checkRateRange(price.note_rate_percent, termPath, errors);
  }
}

function checkRateRange(
  { min, max }: LoanCreditBand['note_rate_percent'],
  path: CatalogValuePath,
  errors: CatalogErrors,
): void {
  if (min > max) errors.add([...path, 'note_rate_percent'], 'min must not exceed max');
}

/** Returns the payout model of an offer; by default, the revenue model of the vertical (docs/contract.md#click-revenue). */
export function resolvePayoutModel(offer: LoanOffer, vertical: Vertical): Vertical['revenueModel'] {
  return offer.payout_model ?? vertical.revenueModel;
}

/**
 * Returns the share of a credit band's scores that an offer accepts: 1 if the offer has no minimum score, 0 if all scores of the band are
 * below the minimum. Assumes that all scores of a band are equally likely.
 */
export function computeAcceptedScoreShare(
  { min_credit_score: minScore }: LoanOffer,
  { creditScores }: Vertical,
  band: number,
): number {
  const scores = creditScores?.[band];
  if (minScore === undefined || scores === undefined) return 1;
  const { min, max } = scores;
  return Math.max(0, max - Math.max(min, minScore) + 1) / (max - min + 1);
}

/**
 * Returns the note rates and the origination fee of a credit band at one term, in percent. The prices that a credit band specifies for a
 * single term replace its general prices.
 */
export function priceAtTerm(band: LoanCreditBand, months: number): { min: number; max: number; feePercent: number } {
  const own = band.terms?.[months];
  const { min, max } = own?.note_rate_percent ?? band.note_rate_percent;
  return { min, max, feePercent: own?.origination_fee_percent ?? band.origination_fee_percent };
}
