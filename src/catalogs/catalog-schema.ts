import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';

/** Source text of the regular expression for offer ids. An offer id contains only characters that need no escaping in URLs. */
export const offerIdPattern = `^[a-z0-9_-]{1,${bounds.offerIdCharactersMax}}$`;

/**
 * Landing URL of the example catalogs, whose lenders do not exist: a page of the redirect host, which states where the click would have led.
 */
export const exampleLandingPath = '/c/example';
export const exampleLandingUrl = `${exampleLandingPath}?click_id={click_id}`;

/**
 * Schema of the members that all catalog files of format 1 share (docs/catalog.md). `ProductSchema` describes the members that belong to a
 * single product. `validateSemantics` checks rules that a schema cannot express, such as the allowed values of a field. An unknown member
 * is an error: if a misspelled criterion were ignored, the offer would match too many borrowers. `validateSemantics` also checks for
 * repeated values, because the schema library (TypeBox) overflows the stack if it checks `uniqueItems` on deeply nested items.
 */

export const strictObject = { additionalProperties: false } as const;

/** Schema of an object used as a dictionary. Without `strictObject`, TypeBox ignores members whose names contain a line break. */
export const createDictionarySchema = <Value extends TSchema>(value: Value) =>
  Type.Record(Type.String(), value, strictObject);

export const ageYearsSchema = Type.Integer({ minimum: 1, maximum: 120 });

const safeIntegerSchema = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });

const criterion = Type.Object(
  {
    field: Type.String(),
    in: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1, maxItems: bounds.catalogListItemsMax })),
    not_in: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1, maxItems: bounds.catalogListItemsMax })),
    min: Type.Optional(safeIntegerSchema),
    max: Type.Optional(safeIntegerSchema),
    min_age: Type.Optional(ageYearsSchema),
  },
  strictObject,
);

const budgetAmountSchema = Type.Optional(Type.Number({ minimum: bounds.budgetUsdMin, maximum: bounds.budgetUsdMax }));

/** Schema of an offer's budget. `validateSemantics` checks that a budget has at least one amount. */
const budgetSchema = Type.Object(
  {
    per_day_usd: budgetAmountSchema,
    per_month_usd: budgetAmountSchema,
    pacing: Type.Enum(['asap', 'even']),
  },
  strictObject,
);

/** Schemas of the offer members that all products share. */
export const commonOfferSchemas = {
  id: Type.String({ pattern: offerIdPattern }),
  stars: Type.Number({ minimum: 1, maximum: 5 }),
  features: Type.Array(Type.String({ pattern: '^[a-z0-9_]{1,40}$' }), { maxItems: 16 }),
  prequalification: Type.Boolean(),
  landing_url: Type.String({ maxLength: 1_024 }),
  criteria: Type.Array(criterion, { maxItems: 32 }),
  payout_model: Type.Optional(Type.Enum(['cost_per_lead', 'cost_per_click'])),
  payout_usd: Type.Number({ minimum: 0, maximum: bounds.payoutUsdMax }),
  daily_cap: Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.dailyCapClicksMax })),
  budget: Type.Optional(budgetSchema),
};

/** Schemas of the members with which a lender documents an offer. They are optional for loans and required for all other products. */
export const offerDisclosureSchemas = {
  legal: Type.String({ minLength: 1, maxLength: bounds.offerLegalCharactersMax }),
  terms_url: Type.String({ maxLength: 1_024 }),
  as_of: Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
};

const { payout_model: _, ...withoutPayoutModel } = commonOfferSchemas;

/**
 * Schemas of the offer members that all products except loans share. Only an offer of a loan can choose a payout model, because all clicks
 * or accepted leads of another vertical are paid in the same way.
 */
export const disclosedOfferSchemas = { ...withoutPayoutModel, ...offerDisclosureSchemas };

/** Name of the offered product. The name is required if a lender can offer several products of one kind, such as cards. */
export const productNameSchema = Type.String({ minLength: 1, maxLength: bounds.productNameCodePointsMax });

export const optionalOfferDisclosureSchemas = {
  legal: Type.Optional(offerDisclosureSchemas.legal),
  terms_url: Type.Optional(offerDisclosureSchemas.terms_url),
  as_of: Type.Optional(offerDisclosureSchemas.as_of),
};

/** Members of a catalog file whose rules per US state contain only a minimum age. */
export const minimumAgeFileMembers = {
  state_rules: Type.Optional(
    createDictionarySchema(Type.Object({ min_age: Type.Optional(ageYearsSchema) }, strictObject)),
  ),
};

export const lenderSchema = <Members extends TProperties, Offer extends TSchema>(members: Members, offer: Offer) =>
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: bounds.lenderNameCodePointsMax }),
      // A logo file name contains only characters that need no escaping in file paths and URLs.
      logo: Type.String({ pattern: `^[a-z0-9][a-z0-9_-]{0,${bounds.logoFileNameCharactersMax - 5}}\\.svg$` }),
      ...members,
      offers: Type.Array(offer, { minItems: 1 }),
    },
    strictObject,
  );

export const catalogSchema = <Members extends TProperties, Lender extends TSchema>(members: Members, lender: Lender) =>
  Type.Object(
    {
      format: Type.Literal(1),
      vertical: Type.String(),
      disclosure: Type.String({ minLength: 1, maxLength: 500 }),
      max_age_days: Type.Optional(
        Type.Union([Type.Integer({ minimum: 1, maximum: bounds.offerAgeDaysMax }), Type.Null()]),
      ),
      ...members,
      lenders: Type.Array(lender, { minItems: 1 }),
    },
    strictObject,
  );

const anyOffer = Type.Object({
  ...commonOfferSchemas,
  ...optionalOfferDisclosureSchemas,
  name: Type.Optional(productNameSchema),
});
const anyLender = lenderSchema({}, anyOffer);
const anyCatalog = catalogSchema({}, anyLender);

/** The members of a catalog file that are the same for all products. */
export type CatalogFile = Static<typeof anyCatalog>;
export type CatalogLender = CatalogFile['lenders'][number];
export type CatalogOffer = Static<typeof anyOffer>;
