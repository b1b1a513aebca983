import type { Offer } from '../envelope.ts';
import { limits } from '../limits.ts';
import { featureName } from '../text/feature-name.ts';
import { dollarsAndCents, wholeDollars } from '../text/money.ts';
import { monthList } from '../text/month-list.ts';
import { percent } from '../text/percent.ts';
import { element } from './element.ts';
import type { Headings } from './headings.ts';
import { logo } from './logo.ts';
import { stars } from './stars.ts';

export interface CardEvents {
  readonly detailsOpened: (offerId: string) => void;
  readonly clicked: (offerId: string) => void;
}

/**
 * One offer. A payment never stands alone: the amount, the term and the APR range it belongs to are said right behind it
 * (Regulation Z, 12 CFR 1026.24(d)).
 */
export function offerCard(
  offer: Offer,
  link: string,
  loanAmount: number,
  headings: Headings,
  events: CardEvents,
): HTMLElement {
  const { apr_range: apr, loan_amount_range: amounts, payment_term_months: term, lender_name: lender } = offer;
  const payment = dollarsAndCents(offer.monthly_payment_estimate);
  const loan = `${wholeDollars(loanAmount)} over ${term} months`;
  const rates = apr.min === apr.max ? percent(apr.min) : `${percent(apr.min)} to ${percent(apr.max)}`;
  const tags = offer.features.map(featureName);

  const go = element(
    'a',
    { class: 'go', href: link, target: '_blank', rel: 'noopener sponsored' },
    offer.prequalification ? 'Check your rate' : 'View offer',
    element('span', { class: 'said' }, ` at ${lender} (opens in a new tab)`),
  );
  const tell = () => events.clicked(offer.svc_offer_id);
  go.addEventListener('click', tell);
  // The middle button opens a tab without a click.
  go.addEventListener('auxclick', (event) => event.button === 1 && tell());

  const details = element(
    'details',
    { class: 'details' },
    element('summary', {}, 'Details', element('span', { class: 'said' }, ` of the offer from ${lender}`)),
    element(
      'div',
      { class: 'details-text' },
      element(
        'p',
        {},
        element('strong', {}, 'Representative example. '),
        `A loan of ${loan}, at the middle of this lender’s rates for you, takes ${term} monthly payments of ${payment}: `,
        `${dollarsAndCents(offer.monthly_payment_estimate * term)} in all. APR from ${rates}, any origination fee included.`,
      ),
      element('p', {}, element('strong', {}, 'Terms open to you: '), `${monthList(offer.term_months)}.`),
      tags.length > 0 ? element('p', {}, element('strong', {}, 'Features: '), `${tags.join(', ')}.`) : null,
    ),
  );
  details.addEventListener('toggle', () => details.open && events.detailsOpened(offer.svc_offer_id));

  return element(
    'li',
    { class: 'card' },
    element(
      'div',
      { class: 'lender' },
      logo(lender, offer.logo_url),
      element('div', { class: 'who' }, headings.part({ class: 'name' }, lender), stars(offer.svc_star_rating)),
    ),
    element(
      'dl',
      { class: 'figures' },
      figure('payment', 'Estimated payment', `${payment}/month`, `for ${loan}, APR from ${rates}`),
      figure('apr', 'APR range', rates.replace(' to ', '–')),
      figure('amount', 'Loan amount', `${wholeDollars(amounts.min)}–${wholeDollars(amounts.max)}`),
    ),
    tags.length > 0
      ? element(
          'ul',
          { class: 'tags', role: 'list' },
          ...tags.slice(0, limits.tagsShown).map((tag) => element('li', {}, tag)),
        )
      : null,
    element(
      'div',
      { class: 'action' },
      go,
      offer.prequalification
        ? element('p', { class: 'unharmed' }, 'Checking your rate will not affect your credit score')
        : null,
    ),
    details,
  );
}

function figure(kind: string, name: string, value: string, note: string | null = null): HTMLElement {
  return element(
    'div',
    { class: `figure ${kind}` },
    element('dt', {}, name),
    element(
      'dd',
      {},
      element('span', { class: 'value' }, value),
      note === null ? null : ' ',
      note === null ? null : element('span', { class: 'note' }, note),
    ),
  );
}
