import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../bounds.ts';

/**
 * The shape of a catalog file, format 1 (docs/catalog.md describes it for those who write one). What a schema cannot say,
 * such as which words a field may hold in this vertical, `parseCatalog` checks. Unknown members are refused, so that a
 * misspelt criterion cannot silently widen an offer.
 */

const strict = { additionalProperties: false } as const;
const percent = (maximum: number) => Type.Number({ minimum: 0, maximum });
const probability = Type.Number({ minimum: 0, maximum: 1 });
const amountUsd = Type.Integer({ minimum: 1, maximum: bounds.catalogAmountUsdMax });

const criterion = Type.Object(
  {
    field: Type.String(),
    in: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1, maxItems: 256 })),
    not_in: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1, maxItems: 256 })),
    min: Type.Optional(Type.Integer()),
    max: Type.Optional(Type.Integer()),
    min_age: Type.Optional(Type.Integer({ minimum: 1, maximum: 120 })),
  },
  strict,
);

const band = Type.Object(
  {
    note_rate_percent: Type.Object({ min: percent(bounds.aprPercentMax), max: percent(bounds.aprPercentMax) }, strict),
    origination_fee_percent: percent(20),
    approval_likelihood: probability,
    confirm_rate: Type.Optional(probability),
    max_amount: amountUsd,
  },
  strict,
);

const offer = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9_-]{1,64}$' }),
    stars: Type.Number({ minimum: 1, maximum: 5 }),
    features: Type.Array(Type.String({ pattern: '^[a-z0-9_]{1,40}$' }), { maxItems: 16, uniqueItems: true }),
    prequalification: Type.Boolean(),
    landing_url: Type.String({ maxLength: 1_024 }),
    amount: Type.Object({ min: amountUsd, max: amountUsd }, strict),
    term_months: Type.Array(Type.Integer({ minimum: 1, maximum: 480 }), {
      minItems: 1,
      maxItems: bounds.catalogTermsMax,
      uniqueItems: true,
    }),
    criteria: Type.Array(criterion, { maxItems: 32 }),
    max_debt_to_income_percent: Type.Optional(Type.Number({ minimum: 1, maximum: 100 })),
    payout_usd: Type.Number({ minimum: 0, maximum: 100_000 }),
    bands: Type.Record(Type.String(), band),
  },
  strict,
);

const lender = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100 }),
    logo: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}\\.(svg|png|webp)$' }),
    offers: Type.Array(offer, { minItems: 1 }),
  },
  strict,
);

const stateRule = Type.Object(
  { max_apr_percent: Type.Optional(percent(bounds.aprPercentMax)), min_amount: Type.Optional(amountUsd) },
  strict,
);

export const catalogSchema = Type.Object(
  {
    format: Type.Literal(1),
    vertical: Type.String(),
    disclosure: Type.String({ minLength: 1, maxLength: 500 }),
    max_apr_percent: percent(bounds.aprPercentMax),
    state_rules: Type.Record(Type.String(), stateRule),
    lenders: Type.Array(lender, { minItems: 1 }),
  },
  strict,
);

export const catalogValidator = Compile(catalogSchema);

export type CatalogFile = Static<typeof catalogSchema>;
export type CatalogLender = CatalogFile['lenders'][number];
export type CatalogOffer = CatalogLender['offers'][number];
export type CatalogBand = CatalogOffer['bands'][string];
export type CatalogCriterion = CatalogOffer['criteria'][number];
