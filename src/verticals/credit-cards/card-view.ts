import Type, { type Static } from 'typebox';
import type { OfferRendererOptions, OfferView } from '../../catalogs/offer-view.ts';
import { nullableSchema } from '../../domain/nullable-schema.ts';
import { rowOf } from '../../matching/match-tables.ts';
import { copyDescribedMembers, createOfferPricing, TemplateOfferRenderer } from '../common/template-offer-renderer.ts';
import type { CardTables } from './card-tables.ts';
import { balanceComputationMethods, type CardOffer } from './offer-schema.ts';
import { computeFirstYearCents, isWithinDeposit, readApplicant } from './price-card.ts';

const percent = (description: string) => Type.Number({ minimum: 0, description: `${description}, in percent` });
const usd = (description: string) => Type.Number({ minimum: 0, description: `${description}, in USD` });
const aprRange = (description: string) =>
  Type.Object({ min: percent('Lowest rate'), max: percent('Highest rate') }, { description });
const introApr = (description: string) =>
  nullableSchema(
    Type.Object(
      {
        percent: percent('Introductory rate'),
        months: Type.Integer({ description: 'Number of months with this rate.' }),
      },
      { description },
    ),
  );
const transactionFee = (description: string) =>
  Type.Object({ percent: percent('Share of the amount'), min: usd('Smallest fee') }, { description });

/** Schema of the member `card` of an offer. A member that matches a row of the table in 12 CFR 1026.60 is named after this row. */
const cardSchema = Type.Object(
  {
    name: Type.String({ description: 'Product name of the card.' }),
    purchase_apr: aprRange("APR for purchases of the borrower's credit band; the same as `apr_range`."),
    transfer_apr: aprRange("APR for balance transfers of the borrower's credit band."),
    cash_advance_apr: percent('APR for cash advances'),
    penalty_apr: nullableSchema(percent('Highest APR after late payments')),
    intro_purchase_apr: introApr('Introductory APR for purchases.'),
    intro_transfer_apr: introApr('Introductory APR for balance transfers.'),
    annual_fee: usd('Fee of each year after the first'),
    annual_fee_first_year: usd('Fee of the first year'),
    minimum_interest_charge: usd('Smallest interest charge of a billing period with interest'),
    transfer_fee: transactionFee('Fee for a balance transfer: a share of the amount, but at least `min`.'),
    cash_advance_fee: transactionFee('Fee for a cash advance: a share of the amount, but at least `min`.'),
    foreign_transaction_fee_percent: percent('Fee for purchases in a foreign currency'),
    late_fee_max: usd('Highest fee for a late payment'),
    returned_payment_fee_max: usd('Highest fee for a returned payment'),
    grace_period_days: Type.Integer({ description: 'Days from the bill to its due date without interest; 0: none.' }),
    balance_method: Type.Unsafe<CardOffer['balance_method']>({
      type: 'string',
      enum: [...balanceComputationMethods],
      description: 'How the balance is computed on which interest is charged.',
    }),
    variable: nullableSchema(
      Type.Boolean({
        description: 'Whether the purchase APR follows an index; `null` if the catalog does not say so.',
      }),
    ),
    rewards: Type.Array(Type.Object({ category: Type.String(), percent: percent('Rewards for purchases') }), {
      description: 'Rewards by spending category. `base` applies to all other purchases.',
    }),
    bonus: nullableSchema(
      Type.Object(
        { value: usd('Bonus'), spend: usd('Purchases that the bonus requires'), months: Type.Integer() },
        { description: 'Bonus for purchases of `spend` within the first `months`.' },
      ),
    ),
    security_deposit_min: nullableSchema(usd('Smallest deposit of a secured card')),
    security_deposit_max: nullableSchema(usd('Largest deposit of a secured card')),
    first_year_value: Type.Number({ description: 'Estimated value of the first year in USD; may be negative.' }),
  },
  { title: 'Card', description: 'Figures of the card.' },
);

export const cardViewMembers = { card: cardSchema };

/** Figures of the member `card` of an offer. */
export type CardView = Static<typeof cardSchema>;

/** Offer of a credit card in a marketplace response. */
export type CardOfferView = OfferView & { readonly card: CardView };

/** Prices the offers of a response. The slot of an offer is its row, which is the combination of offer and credit band. */
export const priceCards = createOfferPricing(readApplicant, (tables: CardTables, index, applicant) => {
  const slot = rowOf(tables, index, applicant.creditBand);
  if (!isWithinDeposit(tables, index, applicant) || tables.isServed[slot] === 0) return null;
  return { index, slot, values: [computeFirstYearCents(tables, index, applicant) / 100] };
});

/** Creates the renderer of card offers. The first-year value depends on the borrower; all other values depend only on the slot. */
export function createCardRenderer(...options: OfferRendererOptions): TemplateOfferRenderer {
  const { bandNames, offerCount } = options[0].tables as CardTables;
  return new TemplateOfferRenderer(options, ({ source }, slot, [firstYearValue]) => {
    const offer = source as CardOffer;
    const { annual_fee, annual_fee_first_year = annual_fee } = offer;
    const { purchase_apr, transfer_apr = purchase_apr } = offer.bands[bandNames[Math.floor(slot / offerCount)]!]!;
    const figures = { purchase_apr, transfer_apr, annual_fee_first_year, first_year_value: firstYearValue };
    return { apr_range: purchase_apr, card: copyDescribedMembers(cardSchema, offer, figures) };
  });
}
