import Type, { type Static } from 'typebox';
import { bounds } from '../../bounds.ts';
import {
  catalogSchema,
  createDictionarySchema,
  disclosedOfferSchemas,
  lenderSchema,
  minimumAgeFileMembers,
  productNameSchema,
  strictObject,
} from '../../catalogs/catalog-schema.ts';

/** Schema of the members that only the catalog files of credit cards have (docs/verticals/credit-cards.md#catalog). */

/** Name of the pocket field with the purpose of the card. */
export const purposeFieldName = 'card_purpose';

/** Category of the rewards rate that applies to all purchases without a category of their own. */
export const baseRewardCategory = 'base';

const percent = (maximum: number) => Type.Number({ minimum: 0, maximum });
const usd = Type.Number({ minimum: 0, maximum: bounds.cardFeeUsdMax });
const apr = percent(bounds.aprPercentMax);
const aprRange = Type.Object({ min: apr, max: apr }, strictObject);
const feePercent = percent(bounds.cardFeePercentMax);
/** Fee for a transaction: a percentage of its amount, but at least `min` USD. */
const transactionFee = Type.Object({ percent: feePercent, min: usd }, strictObject);
const introApr = Type.Object(
  {
    percent: apr,
    months: Type.Integer({ minimum: bounds.cardIntroMonthsMin, maximum: bounds.cardIntroMonthsMax }),
  },
  strictObject,
);

const band = Type.Object(
  {
    purchase_apr: aprRange,
    /** Default: `purchase_apr`. */
    transfer_apr: Type.Optional(aprRange),
    approval_likelihood: Type.Number({ minimum: 0, maximum: 1 }),
  },
  strictObject,
);

/**
 * Methods of 12 CFR 1026.60(g) for computing the balance on which interest is charged. `average_daily_balance` and `daily_balance` include
 * new purchases.
 */
export const balanceComputationMethods = [
  'average_daily_balance',
  'average_daily_balance_excluding_new_purchases',
  'adjusted_balance',
  'previous_balance',
  'daily_balance',
] as const;

const rewardRate = Type.Object(
  {
    category: Type.String({ pattern: '^[a-z0-9_]{1,40}$' }),
    percent: percent(bounds.cardRewardPercentMax),
  },
  strictObject,
);

const offer = Type.Object(
  {
    ...disclosedOfferSchemas,
    name: productNameSchema,
    purposes: Type.Array(Type.String(), { minItems: 1, maxItems: bounds.catalogListItemsMax }),
    annual_fee: usd,
    /** Default: `annual_fee`. */
    annual_fee_first_year: Type.Optional(usd),
    cash_advance_apr: apr,
    penalty_apr: Type.Optional(apr),
    intro_purchase_apr: Type.Optional(introApr),
    intro_transfer_apr: Type.Optional(introApr),
    minimum_interest_charge: usd,
    transfer_fee: transactionFee,
    cash_advance_fee: transactionFee,
    foreign_transaction_fee_percent: feePercent,
    late_fee_max: usd,
    returned_payment_fee_max: usd,
    grace_period_days: Type.Integer({ minimum: 0, maximum: bounds.cardGraceDaysMax }),
    balance_method: Type.Enum([...balanceComputationMethods]),
    rewards: Type.Array(rewardRate, { minItems: 1, maxItems: bounds.cardRewardCategoriesMax }),
    bonus: Type.Optional(
      Type.Object({ value: usd, spend: usd, months: Type.Integer({ minimum: 1, maximum: 12 }) }, strictObject),
    ),
    /** Whether the purchase APR follows an index. Catalogs of earlier releases do not say so. */
    variable: Type.Optional(Type.Boolean()),
    security_deposit_min: Type.Optional(usd),
    /** Largest deposit of a secured card, which is the largest credit limit. */
    security_deposit_max: Type.Optional(usd),
    bands: createDictionarySchema(band),
  },
  strictObject,
);

export const cardSchema = { fileMembers: minimumAgeFileMembers, lenderMembers: {}, offer };

const lender = lenderSchema({}, offer);
const catalog = catalogSchema(minimumAgeFileMembers, lender);

export type CardCatalog = Static<typeof catalog>;
export type CardOffer = Static<typeof offer>;
/** Rates and approval likelihood of a card in one credit band. */
export type CreditBandTerms = Static<typeof band>;
export type AprRange = Static<typeof aprRange>;
