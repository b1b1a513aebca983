import Type, { type Static } from 'typebox';
import type { OfferView } from '../../catalogs/offer-view.ts';
import { nullableSchema } from '../../domain/nullable-schema.ts';
import {
  type CreateOfferFigures,
  copyDescribedMembers,
  createOfferPricing,
} from '../common/template-offer-renderer.ts';
import { compoundingFrequencies, interestTierMethods } from './annual-yield.ts';
import type { DepositTables } from './deposit-tables.ts';
import type { DepositOffer } from './offer-schema.ts';
import { createEmptyDepositOfferFigures, priceDeposit, readDepositor } from './price-deposit.ts';

/** Schema of an amount. `subject` is a noun phrase, and `details` are whole sentences. */
const usd = (subject: string, details = '') => Type.Number({ description: `${subject}, in USD. ${details}`.trim() });
const percent = (subject: string, details = '') =>
  Type.Number({ minimum: 0, description: `${subject}, in percent. ${details}`.trim() });

/** Schema of the member `deposit` of an offer view (docs/verticals/banking.md#offers). */
export const depositViewSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the account.' }),
    apy: percent('Annual percentage yield at the requested deposit', 'It is 0 below `minimum_balance_for_apy`.'),
    rate: percent('Interest rate of the tier that the deposit reaches', 'It is 0 below `minimum_balance_for_apy`.'),
    compounding: Type.Enum(compoundingFrequencies, {
      type: 'string',
      description: 'How often interest is added to the balance.',
    }),
    tiers: Type.Array(
      Type.Object({
        from: usd('Balance from which the tier applies'),
        rate: percent('Interest rate of the tier'),
        apy: percent(
          'Annual percentage yield at the beginning of the tier',
          'With `whole_balance`, it is the yield in the whole tier. With `marginal`, the yield in the tier ranges from this `apy` ' +
            'to the `apy` of the next tier; in the last tier, it approaches the yield of `rate`.',
        ),
      }),
      { description: 'Rates by balance, ascending.' },
    ),
    tier_method: Type.Enum(interestTierMethods, {
      type: 'string',
      description: 'Whether the rate of a tier applies to the whole balance, or only to the part within the tier.',
    }),
    term_months: nullableSchema(Type.Integer({ description: 'Term of a certificate of deposit, in months.' })),
    minimum_deposit: usd('Smallest deposit that opens the account'),
    minimum_balance_for_apy: usd('Smallest balance that earns interest'),
    monthly_fee: usd('Monthly fee', 'The institution charges no fee if the balance reaches `fee_waived_from`.'),
    fee_waived_from: nullableSchema(
      usd('Balance from which there is no monthly fee', '`null` if the fee is never waived.'),
    ),
    early_withdrawal_penalty_days: nullableSchema(
      Type.Integer({ description: 'Days of interest that an early withdrawal costs; `null` if it costs nothing.' }),
    ),
    bonus: nullableSchema(
      Type.Object(
        {
          amount: usd('Bonus'),
          requirement: Type.String({ description: 'What the depositor must do to get the bonus.' }),
          days: Type.Integer({
            description: 'Days after opening the account within which the requirement must be met.',
          }),
          minimum_deposit: nullableSchema(
            usd('Smallest deposit that earns the bonus', '`null` if every deposit does.'),
          ),
          paid_within_days: nullableSchema(
            Type.Integer({
              description: 'Days after the requirement is met within which the bonus is paid; `null` if unknown.',
            }),
          ),
        },
        { description: '`null` if the offer has no bonus that this depositor can get.' },
      ),
    ),
    introductory: nullableSchema(
      Type.Object(
        { rate: percent('Introductory rate'), months: Type.Integer({ description: 'Months for which it applies.' }) },
        { description: 'Rate of every tier in the first months, which the yields include; `null` if there is none.' },
      ),
    ),
    steps: nullableSchema(
      Type.Array(
        Type.Object({
          from_month: Type.Integer({ minimum: 1, description: 'Month of the term from which the rate applies.' }),
          rate: percent('Interest rate'),
        }),
        { description: 'Rates of a certificate of deposit whose rate changes; `null` if it does not change.' },
      ),
    ),
    insured_by: Type.Enum(['fdic', 'ncua'], { type: 'string', description: 'Insurer of the deposit.' }),
    certificate_number: Type.String({ description: 'FDIC certificate number, or NCUA charter number.' }),
    variable: Type.Boolean({ description: 'Whether the rate can change after the account is opened.' }),
    first_year_earnings: usd(
      'Interest plus bonus minus fees',
      'They count until the end of the first year, or until an earlier maturity.',
    ),
  },
  { description: 'Figures of the deposit account.' },
);

/** Figures of the member `deposit` of an offer. */
export type DepositView = Static<typeof depositViewSchema>;

/** Offer of a deposit account in a marketplace response. */
export type DepositOfferView = OfferView & { readonly deposit: DepositView };

/** Number of templates per offer: one without and one with the bonus. */
const slotsPerOffer = 2;

const price = createEmptyDepositOfferFigures();

/** Prices the offers of a response. */
export const calculateDepositPrices = createOfferPricing(
  readDepositor,
  (tables: DepositTables, index, depositor, { source }) => {
    if (!priceDeposit(tables, index, depositor, price)) return null;
    const { apy, tier, earningsCents, hasBonus } = price;
    const { tiers } = source as DepositOffer;
    const rate = tier < 0 ? 0 : tiers[tier - tables.firstTier[index]!]!.rate;
    return {
      index,
      slot: index * slotsPerOffer + Number(hasBonus),
      values: [apy / 100, rate, earningsCents / 100],
    };
  },
);

/** Creates the members of an offer view. `values` are the yield, the rate and the first year's earnings. */
export const copyDepositFigures: CreateOfferFigures = ({ source }, slot, [apy, rate, earnings]) => {
  const offer = source as DepositOffer;
  const bonus = slot % slotsPerOffer === 1 ? copyBonus(offer.bonus!) : null;
  const figures = { apy, rate, bonus, first_year_earnings: earnings };
  return { deposit: copyDescribedMembers(depositViewSchema, offer, figures) };
};

function copyBonus({ amount, requirement, days, ...bonus }: NonNullable<DepositOffer['bonus']>) {
  const { minimum_deposit = null, paid_within_days = null } = bonus;
  return { amount, requirement, days, minimum_deposit, paid_within_days };
}
