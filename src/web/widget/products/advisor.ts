import { createElement, parseWebUrl } from '../dom.ts';
import {
  formatDollarsAndCents,
  formatFee,
  formatIfPresent,
  formatOfferFeature,
  formatOrNone,
  formatShortPercent,
} from '../format.ts';
import type { Figures, Offer } from '../offer.ts';
import { createLabeledText, createTable } from '../offer-card.ts';
import { createSortOrderLabels, type OfferCardContent, type ProductView } from './product-view.ts';

/** Figures of a financial advisor (docs/contract.md#offers). */
type AdvisorFigures = Figures<{
  name: string;
  firm_type: string;
  fiduciary: boolean;
  credentials: readonly string[];
  fee_model: string;
  fee_tiers: readonly { readonly from: number; readonly percent: number }[];
  fee_usd: number;
  hours_per_year: number;
  estimated_annual_fee: number;
  minimum_assets: number;
  services: readonly string[];
  meeting: string;
  years: number;
  crd_number: string;
  disclosures_url: string;
  has_disclosures: boolean;
}>;

interface AdvisorOffer extends Offer {
  readonly advisor?: AdvisorFigures;
  readonly compensation_disclosure?: string | null;
}

/** Shows financial advisors. */
export const advisorView: ProductView = {
  name: 'advisor',
  title: 'Your advisor matches',
  sortOrderLabels: createSortOrderLabels('Lowest annual fee', 'Largest minimum assets'),
  orderDisclosure: [
    '“Recommended” puts first what should serve you best. It weighs how well the services fit your topic, the fee as a share of ' +
      'your assets, credentials, and the star rating, which our editors give. What an advisor pays us plays no part in it.',
    '“Lowest annual fee” and “Largest minimum assets” go by that one figure.',
  ],
  paymentDisclosure:
    'An advisor pays us the same for each introduction that it accepts, whether or not you hire the advisor. We show advisors we work ' +
    'with; there are others.',
  caveat: 'Fees are estimates. What you pay is up to your agreement with the advisor.',
  action: { text: 'Meet the advisor', prequalificationText: 'Meet the advisor', prequalificationNote: null },
  createNoOffersAdvice: () =>
    'None of our advisors fits these answers today. Another topic or kind of meeting may change that.',
  createOfferCardContent: createContent,
};

/** The card states what the firm pays, in the size of the other figures and not behind a link (17 CFR 275.206(4)-1(b)). */
function createContent(offer: AdvisorOffer): OfferCardContent {
  const { advisor = {}, compensation_disclosure: payment } = offer;
  const { name, years, meeting, services, has_disclosures: hasDisclosures } = advisor;
  return {
    productName: name,
    lenderNote: formatRegistration(advisor),
    figures: [
      [
        'lead wide',
        'Estimated annual fee',
        formatIfPresent(advisor.estimated_annual_fee, formatDollarsAndCents),
        formatFeeModel(advisor),
      ],
      ['minimum', 'Minimum assets', formatOrNone(advisor.minimum_assets)],
      [
        'credentials',
        'Credentials',
        formatIfPresent(advisor.credentials, (list) => list.join(', ').toUpperCase().replace('CHFC', 'ChFC') || 'None'),
      ],
      ['fiduciary', 'Fiduciary', formatIfPresent(advisor.fiduciary, (is) => (is ? 'Yes' : 'No'))],
      ['experience', 'Experience', formatIfPresent(years, (count) => `${count} ${count === 1 ? 'year' : 'years'}`)],
      [
        'meeting',
        'Meetings',
        meeting === 'both' ? 'In person or remote' : formatIfPresent(meeting, formatOfferFeature),
      ],
      ['record', 'Public record', formatIfPresent(hasDisclosures, (has) => `${has ? 'Has' : 'No'} disclosures`)],
      ['payment-note', 'How we are paid', payment],
    ],
    details: [
      createLabeledText('Services:', services && `${services.join(', ')}.`),
      createTierTable(advisor),
      createDisclosuresLink(offer, advisor),
    ],
  };
}

/** Formats the registration of the firm, and the number in the Central Registration Depository: `Broker-dealer, CRD 123456`. */
function formatRegistration({ firm_type: type, crd_number: number }: AdvisorFigures): string | null {
  const adviser = 'Investment adviser';
  return formatIfPresent(type, (kind) => {
    const name = kind === 'ria' ? adviser : kind === 'dual' ? `${adviser} and broker-dealer` : 'Broker-dealer';
    return number ? `${name}, CRD ${number}` : name;
  });
}

function formatFeeModel({ fee_model: model, fee_tiers: tiers, fee_usd: fee, hours_per_year: hours }: AdvisorFigures) {
  if (tiers) {
    const percents = tiers.map(({ percent }) => formatShortPercent(percent));
    return `${[...new Set([percents[0], percents.at(-1)])].join(' to ')} of your assets`;
  }
  if (model === 'hourly' && fee) return `${formatFee(fee)} an hour, about ${hours} hours a year`;
  return model === 'commission' ? 'from commissions, as the firm estimates' : model === 'flat' ? 'a flat fee' : null;
}

/** Creates the table of fee tiers. A fee with a single tier has no table. */
function createTierTable({ fee_tiers: tiers }: AdvisorFigures): HTMLElement | null {
  if (!tiers || tiers.length < 2) return null;
  return createTable(
    'Fees: the percentage of a tier applies to the part of the assets within the tier',
    ['Assets from', 'Annual fee'],
    tiers.map(({ from, percent }) => [formatFee(from), formatShortPercent(percent)]),
  );
}

/** Creates the link to the relationship summary of the firm. */
function createDisclosuresLink({ lender_name: firm }: Offer, advisor: AdvisorFigures): HTMLElement | null {
  const href = parseWebUrl(advisor.disclosures_url);
  if (href === null) return null;
  const text = `Relationship summary (Form CRS) of ${firm}, ${advisor.name}`;
  const attributes = { class: 'relationship-summary', href, target: '_blank', rel: 'noopener' };
  return createElement('p', {}, createElement('a', attributes, text));
}
