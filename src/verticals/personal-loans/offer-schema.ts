import Type, { type Static } from 'typebox';
import { bounds } from '../../bounds.ts';
import {
  ageYears,
  catalogSchema,
  lenderSchema,
  offerMembers,
  recordOf,
  strict,
} from '../../catalogs/catalog-schema.ts';

/** Members of catalog files that exist only for loans (docs/catalog.md). */

const percent = (maximum: number) => Type.Number({ minimum: 0, maximum });
const probability = Type.Number({ minimum: 0, maximum: 1 });
const amountUsd = Type.Integer({ minimum: 1, maximum: bounds.offerAmountUsdMax });
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

const stateLimits = {
  max_apr_percent: Type.Optional(percent(bounds.aprPercentMax)),
  min_amount: Type.Optional(amountUsd),
};
const lenderMembers = { state_rules: Type.Optional(recordOf(Type.Object(stateLimits, strict))) };

const offer = Type.Object(
  {
    ...offerMembers,
    amount: Type.Object({ min: amountUsd, max: amountUsd }, strict),
    term_months: Type.Array(Type.Integer({ minimum: 1, maximum: 480 }), {
      minItems: 1,
      maxItems: bounds.catalogTermsMax,
    }),
    min_credit_score: Type.Optional(Type.Integer({ minimum: 1, maximum: 999 })),
    max_debt_to_income_percent: Type.Optional(Type.Number({ minimum: 1, maximum: 100 })),
    joint_applications: Type.Optional(Type.Enum(['accepted', 'required', 'not_accepted'])),
    ...lenderMembers,
    bands: recordOf(band),
  },
  strict,
);

const fileMembers = {
  max_apr_percent: percent(bounds.aprPercentMax),
  state_rules: recordOf(Type.Object({ ...stateLimits, min_age: Type.Optional(ageYears) }, strict)),
};

export const loanSchema = { fileMembers, lenderMembers, offer };

const lender = lenderSchema(lenderMembers, offer);
const catalog = catalogSchema(fileMembers, lender);

export type LoanCatalog = Static<typeof catalog>;
export type LoanLender = Static<typeof lender>;
export type LoanOffer = Static<typeof offer>;
export type LoanBand = Static<typeof band>;
