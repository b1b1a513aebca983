import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../bounds.ts';
import { offerIdPattern } from './identifiers.ts';

/**
 * The shape of a catalog file, format 1 (docs/catalog.md describes it for those who write one). What a schema cannot say,
 * such as which words a field may hold in this vertical, `parseCatalog` checks. Unknown members are refused, so that a
 * misspelt criterion cannot silently widen an offer. Repeated values are left to `parseCatalog` too: the library's
 * `uniqueItems` descends into whatever the items hold and overflows the stack on deep nesting.
 */

const strict = { additionalProperties: false } as const;
const percent = (maximum: number) => Type.Number({ minimum: 0, maximum });
const probability = Type.Number({ minimum: 0, maximum: 1 });
/** Members of any name. Strict, since the library takes no name with a line break for one and would leave its value unchecked. */
const recordOf = <Value extends TSchema>(value: Value) => Type.Record(Type.String(), value, strict);
const ageYears = Type.Integer({ minimum: 1, maximum: 120 });
const amountUsd = Type.Integer({ minimum: 1, maximum: bounds.offerAmountUsdMax });

const criterion = Type.Object(
  {
    field: Type.String(),
    in: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1, maxItems: bounds.catalogListItemsMax })),
    not_in: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1, maxItems: bounds.catalogListItemsMax })),
    min: Type.Optional(Type.Integer()),
    max: Type.Optional(Type.Integer()),
    min_age: Type.Optional(ageYears),
  },
  strict,
);

const noteRate = Type.Object({ min: percent(bounds.aprPercentMax), max: percent(bounds.aprPercentMax) }, strict);
const originationFee = percent(20);

const termPrice = Type.Object(
  { note_rate_percent: Type.Optional(noteRate), origination_fee_percent: Type.Optional(originationFee) },
  strict,
);

const band = Type.Object(
  {
    note_rate_percent: noteRate,
    origination_fee_percent: originationFee,
    terms: Type.Optional(recordOf(termPrice)),
    approval_likelihood: probability,
    confirm_rate: Type.Optional(probability),
    max_amount: amountUsd,
  },
  strict,
);

const narrowedStateRules = recordOf(
  Type.Object(
    { max_apr_percent: Type.Optional(percent(bounds.aprPercentMax)), min_amount: Type.Optional(amountUsd) },
    strict,
  ),
);

const offer = Type.Object(
  {
    id: Type.String({ pattern: offerIdPattern }),
    stars: Type.Number({ minimum: 1, maximum: 5 }),
    features: Type.Array(Type.String({ pattern: '^[a-z0-9_]{1,40}$' }), { maxItems: 16 }),
    prequalification: Type.Boolean(),
    landing_url: Type.String({ maxLength: 1_024 }),
    amount: Type.Object({ min: amountUsd, max: amountUsd }, strict),
    term_months: Type.Array(Type.Integer({ minimum: 1, maximum: 480 }), {
      minItems: 1,
      maxItems: bounds.catalogTermsMax,
    }),
    criteria: Type.Array(criterion, { maxItems: 32 }),
    min_credit_score: Type.Optional(Type.Integer({ minimum: 1, maximum: 999 })),
    max_debt_to_income_percent: Type.Optional(Type.Number({ minimum: 1, maximum: 100 })),
    joint_applications: Type.Optional(Type.Enum(['accepted', 'required', 'not_accepted'])),
    state_rules: Type.Optional(narrowedStateRules),
    payout_model: Type.Optional(Type.Enum(['cost_per_lead', 'cost_per_click'])),
    payout_usd: Type.Number({ minimum: 0, maximum: bounds.payoutUsdMax }),
    daily_cap: Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.dailyCapClicksMax })),
    bands: recordOf(band),
  },
  strict,
);

const lenderSchema = <Offer extends TSchema>(offer: Offer) =>
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: bounds.lenderNameCodePointsMax }),
      // A plain name: it goes into a path on disk and into addresses as it stands.
      logo: Type.String({ pattern: `^[a-z0-9][a-z0-9_-]{0,${bounds.logoFileNameCharactersMax - 5}}\\.svg$` }),
      state_rules: Type.Optional(narrowedStateRules),
      offers: Type.Array(offer, { minItems: 1 }),
    },
    strict,
  );

const stateRule = Type.Object(
  {
    max_apr_percent: Type.Optional(percent(bounds.aprPercentMax)),
    min_amount: Type.Optional(amountUsd),
    min_age: Type.Optional(ageYears),
  },
  strict,
);

const catalogFileSchema = <Lender extends TSchema>(lender: Lender) =>
  Type.Object(
    {
      format: Type.Literal(1),
      vertical: Type.String(),
      disclosure: Type.String({ minLength: 1, maxLength: 500 }),
      max_apr_percent: percent(bounds.aprPercentMax),
      state_rules: recordOf(stateRule),
      lenders: Type.Array(lender, { minItems: 1 }),
    },
    strict,
  );

const catalog = catalogFileSchema(lenderSchema(offer));
export const catalogValidator = Compile(catalog);

/**
 * The same in three parts, so that whatever is sound needs no search for its faults, which takes many times as long as a
 * check: a file whatever its lenders are, a lender whatever its offers are, and an offer.
 */
export const fileValidator = Compile(catalogFileSchema(Type.Unknown()));
export const lenderValidator = Compile(lenderSchema(Type.Unknown()));
export const offerValidator = Compile(offer);

export type CatalogFile = Static<typeof catalog>;
export type CatalogLender = CatalogFile['lenders'][number];
export type CatalogOffer = Static<typeof offer>;
export type CatalogBand = Static<typeof band>;
export type CatalogCriterion = CatalogOffer['criteria'][number];
