import Type, { type Static } from 'typebox';
import { bounds } from '../../bounds.ts';
import type { CatalogErrors, CatalogValuePath } from '../../catalogs/catalog-errors.ts';
import {
  catalogSchema,
  disclosedOfferSchemas,
  lenderSchema,
  minimumAgeFileMembers,
  productNameSchema,
  strictObject,
} from '../../catalogs/catalog-schema.ts';
import { getChoiceValues } from '../../domain/field-vector.ts';
import { roundHalfUp } from '../../domain/money.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { checkAdvertisedRates, type RateRange } from '../common/advertised-rates.ts';
import {
  compoundingFrequencies,
  computeAnnualPercentageYield,
  computeTierInterestPerDollar,
  computeTierYields,
  interestTierMethods,
} from './annual-yield.ts';

/** Schema of the members that only the catalog files of deposit accounts have (docs/verticals/banking.md#catalog). */

const wholeUsd = Type.Integer({ minimum: 0, maximum: bounds.depositUsdMax });
const ratePercent = Type.Number({ minimum: 0, maximum: bounds.depositRatePercentMax });

const tier = Type.Object({ from: wholeUsd, rate: ratePercent, apy: ratePercent }, strictObject);

const bonus = Type.Object(
  {
    amount: Type.Integer({ minimum: 1, maximum: bounds.depositBonusUsdMax }),
    requirement: Type.String({ minLength: 1, maxLength: bounds.depositBonusRequirementCharactersMax }),
    days: Type.Integer({ minimum: 1, maximum: bounds.depositBonusDaysMax }),
    paid_within_days: Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.depositBonusDaysMax })),
    minimum_deposit: Type.Optional(wholeUsd),
    direct_deposit: Type.Optional(Type.Literal(true)),
    new_customer: Type.Optional(Type.Literal(true)),
  },
  strictObject,
);

const introductory = Type.Object(
  { rate: ratePercent, months: Type.Integer({ minimum: 1, maximum: 12 }) },
  strictObject,
);

const step = Type.Object({ from_month: Type.Integer({ minimum: 1, maximum: 480 }), rate: ratePercent }, strictObject);

const offer = Type.Object(
  {
    ...disclosedOfferSchemas,
    name: productNameSchema,
    product_type: Type.String(),
    tiers: Type.Array(tier, { minItems: 1, maxItems: bounds.depositTiersMax }),
    compounding: Type.Enum(compoundingFrequencies),
    tier_method: Type.Enum(interestTierMethods),
    term_months: Type.Optional(Type.Integer({ minimum: 1, maximum: 480 })),
    minimum_deposit: wholeUsd,
    minimum_balance_for_apy: wholeUsd,
    monthly_fee: Type.Number({ minimum: 0, maximum: bounds.depositMonthlyFeeUsdMax }),
    fee_waived_from: Type.Optional(wholeUsd),
    early_withdrawal_penalty_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650 })),
    introductory: Type.Optional(introductory),
    steps: Type.Optional(Type.Array(step, { minItems: 2, maxItems: bounds.depositStepsMax })),
    bonus: Type.Optional(bonus),
    insured_by: Type.Enum(['fdic', 'ncua']),
    certificate_number: Type.String({ pattern: '^[1-9][0-9]{0,5}$' }),
    variable: Type.Boolean(),
  },
  strictObject,
);

export const depositSchema = { fileMembers: minimumAgeFileMembers, lenderMembers: {}, offer };

const catalog = catalogSchema(minimumAgeFileMembers, lenderSchema({}, offer));

export type DepositCatalog = Static<typeof catalog>;
export type DepositOffer = Static<typeof offer>;

/** Phrase that an advertisement with a yield must contain at least once (12 CFR 1030.8). */
const yieldPhrase = 'annual percentage yield';

/** Words with which an institution states its insurance. */
const insurancePhrases = { fdic: 'Member FDIC', ncua: 'insured by NCUA' } as const;

/** Reports members of a deposit offer that contradict each other or the law, and members that no depositor could meet. */
export function validateDepositOffer(
  offer: DepositOffer,
  path: CatalogValuePath,
  vertical: Vertical,
  errors: CatalogErrors,
  lender: { readonly name: unknown; readonly offers?: unknown },
): void {
  const addError = (member: string, problem: string) => errors.add([...path, member], problem);
  checkProductType(offer, path, vertical, errors);
  checkIntroductoryRate(offer, [...path, 'introductory'], errors);
  if (checkRateSteps(offer, [...path, 'steps'], errors)) checkTiers(offer, [...path, 'tiers'], errors);
  const { monthly_fee, fee_waived_from } = offer;
  if (monthly_fee !== Math.round(monthly_fee * 100) / 100) {
    addError('monthly_fee', 'must have at most two decimals');
  }
  if (monthly_fee === 0 && fee_waived_from !== undefined) {
    addError('fee_waived_from', 'is not allowed if monthly_fee is 0');
  }
  const legal = offer.legal.toLowerCase();
  if (!legal.includes(yieldPhrase)) addError('legal', `must contain the words "${yieldPhrase}"`);
  if (typeof lender.name === 'string' && !legal.includes(lender.name.toLowerCase())) {
    addError('legal', 'must contain the name of the insured institution: the name of the lender');
  }
  const otherInsurance = insurancePhrases[offer.insured_by === 'fdic' ? 'ncua' : 'fdic'];
  if (legal.includes(otherInsurance.toLowerCase())) {
    addError('legal', `must not contain "${otherInsurance}" if insured_by is ${offer.insured_by}`);
  }
  checkInstitution(offer, lender.offers, path, errors);
  checkAdvertisedRates(offer.legal, [...path, 'legal'], errors, () => listYieldRanges(offer));
  checkFreeAccount(offer, path, errors);
  if (offer.bonus === undefined) return;
  errors.checkSingleLineText(offer.bonus.requirement, [...path, 'bonus', 'requirement']);
  if (offer.bonus.paid_within_days === undefined) {
    errors.addUnlessStored(
      [...path, 'bonus', 'paid_within_days'],
      'is required: an advertisement states when a bonus is paid',
    );
  }
}

/**
 * Lists the yields of an offer. With marginal tiers, the yield of a tier lies between its beginning and the yield of the rate, which it
 * approaches with a growing balance.
 */
function listYieldRanges(offer: DepositOffer): RateRange[] {
  const { tiers, tier_method, term_months = 12 } = offer;
  return tiers.map(({ rate, apy }) => {
    if (tier_method === 'whole_balance') return { min: apy, max: apy };
    const interest = computeTierInterestPerDollar(offer, rate, term_months);
    const limit = computeAnnualPercentageYield(interest, 1, term_months / 12);
    return { min: Math.min(apy, limit), max: Math.max(apy, limit) };
  });
}

/** Warns about an account with a monthly fee that is called free, which 12 CFR 1030.8(a)(2) forbids. */
function checkFreeAccount(
  { monthly_fee, name, features, legal }: DepositOffer,
  path: CatalogValuePath,
  errors: CatalogErrors,
) {
  if (monthly_fee === 0) return;
  for (const [member, text] of Object.entries({ name, features: features.join(' ').replaceAll('_', ' '), legal })) {
    if (/\bfree\b/i.test(text))
      errors.addWarning([...path, member], 'contains the word "free", but monthly_fee is not 0');
  }
}

/** Reports an insurer or a certificate number that differs from the lender's first offer, because a lender is one insured institution. */
function checkInstitution(offer: DepositOffer, offers: unknown, path: CatalogValuePath, errors: CatalogErrors): void {
  // The first offer possibly does not match the schema.
  const [first] = offers as readonly (Partial<DepositOffer> | null)[];
  for (const member of ['insured_by', 'certificate_number'] as const) {
    const expected = first?.[member];
    if (expected !== undefined && offer[member] !== expected) {
      errors.add([...path, member], 'must be the same in all offers of a lender');
    }
  }
}

/**
 * Reports an unknown product type, a certificate's missing or unknown term, and a term or a penalty of an offer other than a certificate.
 */
function checkProductType(
  { product_type, term_months, early_withdrawal_penalty_days }: DepositOffer,
  path: CatalogValuePath,
  vertical: Vertical,
  errors: CatalogErrors,
): void {
  const addError = (member: string, problem: string) => errors.add([...path, member], problem);
  if (!getChoiceValues(vertical, 'product_type').includes(product_type)) {
    addError('product_type', 'is not a value of product_type');
  }
  if (product_type !== 'cd') {
    if (term_months !== undefined) addError('term_months', 'is allowed only if product_type is cd');
    if (early_withdrawal_penalty_days !== undefined) {
      addError('early_withdrawal_penalty_days', 'is allowed only if product_type is cd');
    }
    return;
  }
  const field = vertical.fields.find(({ name }) => name === 'cd_term_months');
  const terms = field?.kind === 'integer_choice' ? field.values : [];
  if (term_months === undefined) addError('term_months', 'is required if product_type is cd');
  else if (!terms.includes(term_months)) addError('term_months', `must be one of ${terms.join(', ')}`);
}

/** Reports an introductory rate of an account that cannot have one. With several marginal tiers, its yields would have no simple range. */
function checkIntroductoryRate(
  { introductory, product_type, tiers, tier_method }: DepositOffer,
  path: CatalogValuePath,
  errors: CatalogErrors,
): void {
  if (introductory === undefined) return;
  if (product_type !== 'savings' && product_type !== 'money_market') {
    errors.add(path, 'is allowed only if product_type is savings or money_market');
  }
  if (tiers.length > 1 && tier_method === 'marginal') errors.add(path, 'is not allowed with several marginal tiers');
}

/** Reports rates that change at impossible times. Returns whether the yield of the offer can be computed. */
function checkRateSteps(
  { steps, product_type, tiers, term_months = Number.POSITIVE_INFINITY }: DepositOffer,
  path: CatalogValuePath,
  errors: CatalogErrors,
): boolean {
  if (steps === undefined) return true;
  const countBefore = errors.count;
  if (product_type !== 'cd') errors.add(path, 'is allowed only if product_type is cd');
  if (tiers.length > 1) errors.add(path, 'is allowed only with one tier');
  if (steps[0]!.rate !== tiers[0]!.rate) errors.add([...path, 0, 'rate'], 'must be the rate of the tier');
  for (const [at, { from_month }] of steps.entries()) {
    const place = [...path, at, 'from_month'];
    if (at === 0 && from_month !== 1) errors.add(place, 'must be 1 in the first step');
    if (at > 0 && from_month <= steps[at - 1]!.from_month) errors.add(place, 'must be greater than in the step before');
    if (from_month > term_months) errors.add(place, 'must not be after the term');
  }
  return errors.count === countBefore;
}

function checkTiers(offer: DepositOffer, path: CatalogValuePath, errors: CatalogErrors): void {
  const { tiers, tier_method } = offer;
  if (tiers[0]!.from !== 0) errors.add([...path, 0, 'from'], 'must be 0 in the first tier');
  const isSorted = tiers.every(({ from }, at) => {
    if (at === 0 || from > tiers[at - 1]!.from) return true;
    errors.add([...path, at, 'from'], 'must be greater than in the tier before');
    return false;
  });
  if (!isSorted) return;
  const yields = computeTierYields(offer);
  for (const [at, { rate, apy }] of tiers.entries()) {
    const expected = roundHalfUp(yields[at]!, 2);
    if (apy === expected) continue;
    const hasOneRate = offer.introductory === undefined && offer.steps === undefined;
    const isBelowRate = hasOneRate && tier_method === 'whole_balance' && apy < roundHalfUp(rate, 2);
    const reason = isBelowRate ? 'must not be below the rate; ' : '';
    errors.add([...path, at, 'apy'], `${reason}the annual percentage yield of this rate is ${expected.toFixed(2)}`);
  }
}
