import Type, { type Static } from 'typebox';
import type { OfferView } from '../../catalogs/offer-view.ts';
import { nullableSchema } from '../../domain/nullable-schema.ts';
import {
  type CreateOfferFigures,
  copyDescribedMembers,
  createOfferPricing,
} from '../common/template-offer-renderer.ts';
import type { AdvisorTables } from './advisor-tables.ts';
import { type AdvisorOffer, credentials, feeModels, firmTypes, meetingKinds } from './offer-schema.ts';
import { advisorPricer, computeAnnualFeeCents } from './rank-advisors.ts';

/** Schema of an amount in USD. `subject` is a noun phrase, and `details` are whole sentences. */
const usd = (subject: string, details = '') => Type.Number({ description: `${subject}, in USD. ${details}`.trim() });

const advisorViewSchema = Type.Object(
  {
    name: Type.String({ description: 'Name of the advisor, or of the team.' }),
    firm_type: Type.Enum(firmTypes, {
      type: 'string',
      description: 'Registration of the firm: `ria` is an investment adviser, and `dual` is adviser and broker-dealer.',
    }),
    fiduciary: Type.Boolean({ description: 'Whether the advisor is a fiduciary in all services for the client.' }),
    credentials: Type.Array(Type.Enum(credentials, { type: 'string' }), {
      description: 'Professional designations of the advisor.',
    }),
    fee_model: Type.Enum(feeModels, { type: 'string', description: 'How the client pays the advisor.' }),
    fee_tiers: nullableSchema(
      Type.Array(
        Type.Object({
          from: usd('Assets from which the tier applies'),
          percent: Type.Number({ description: 'Annual fee on the part of the assets within the tier, in percent.' }),
        }),
        { description: 'Tiers of `percent_of_assets`, ascending; `null` in the other fee models.' },
      ),
    ),
    fee_usd: nullableSchema(usd('Fee of a year (`flat`) or of an hour (`hourly`)', '`null` in the other fee models.')),
    hours_per_year: nullableSchema(
      Type.Integer({ description: 'Usual hours in a year (`hourly`); `null` in the other fee models.' }),
    ),
    estimated_annual_fee: usd(
      'Fee of a year for the assets of the visitor',
      'With `commission`, it is an estimate of the firm that does not depend on the assets.',
    ),
    minimum_assets: usd('Smallest assets of a client'),
    services: Type.Array(Type.String(), { description: 'Topics of advice, the main topic first.' }),
    meeting: Type.Enum(meetingKinds, { type: 'string', description: 'How the advisor meets clients.' }),
    years: Type.Integer({ description: 'Years of experience of the advisor.' }),
    crd_number: Type.String({ description: 'Number of the advisor in the Central Registration Depository.' }),
    disclosures_url: Type.String({ format: 'uri', description: "The firm's Form CRS. Link to it from the offer." }),
    has_disclosures: Type.Boolean({
      description:
        'Whether the public record of the advisor has disclosures, such as complaints or disciplinary events.',
    }),
  },
  { description: 'Figures of the advisor.' },
);

/** Members that offers of advisors have besides the common members (docs/verticals/find-advisor.md#offers). */
export const advisorViewMembers = {
  advisor: advisorViewSchema,
  compensation_disclosure: Type.String({
    description:
      'States that the advisor pays for the introduction, whether or not the visitor hires the advisor. Show it beside the offer, not ' +
      'behind a link (17 CFR 275.206(4)-1(b)).',
  }),
};

/** Figures of the member `advisor` of an offer. */
export type AdvisorView = Static<typeof advisorViewSchema>;

/** Offer of a financial advisor in a marketplace response. */
export type AdvisorOfferView = OfferView & { readonly advisor: AdvisorView; readonly compensation_disclosure: string };

/** Computes the fees of the advisors of a response for a visitor. */
export const calculateAdvisorFees = createOfferPricing(
  advisorPricer.readApplicant,
  (tables: AdvisorTables, index, { assets }) => {
    if (assets < tables.minimumAssets[index]!) return null;
    return { index, slot: index, values: [computeAnnualFeeCents(tables, index, assets) / 100] };
  },
);

/** Creates the members of an offer view. The only value is the estimated annual fee. */
export const copyAdvisorFigures: CreateOfferFigures = ({ source }, _slot, [annualFee]) => {
  const offer = source as AdvisorOffer;
  return {
    advisor: copyDescribedMembers(advisorViewSchema, offer, { estimated_annual_fee: annualFee }),
    compensation_disclosure: offer.compensation_disclosure,
  };
};
