import type { Offer } from '../envelope.ts';
import { limits } from '../limits.ts';
import { formatFeature } from '../text/feature-name.ts';
import { formatDollarsAndCents, formatDollars } from '../text/money.ts';
import { formatMonths } from '../text/month-list.ts';
import { formatPercent } from '../text/percent.ts';
import { createElement } from './element.ts';
import type { Headings } from './headings.ts';
import { createLogo } from './logo.ts';
import { createStars } from './stars.ts';

export interface CardEvents {
  readonly detailsOpened: (offerId: string) => void;
  readonly clicked: (offerId: string) => void;
}

/**
 * One offer. A payment never stands alone: the amount, the term and the APR range it belongs to are said right behind it
 * (Regulation Z, 12 CFR 1026.24(d)).
 */
export function createOfferCard(
  offer: Offer,
  link: string,
  loanAmount: number,
  headings: Headings,
  events: CardEvents,
): HTMLElement {
  const { apr_range: apr, loan_amount_range: amounts, payment_term_months: term, lender_name: lender } = offer;
  const payment = formatDollarsAndCents(offer.monthly_payment_estimate);
  const loan = `${formatDollars(loanAmount)} over ${term} months`;
  const rates = apr.min === apr.max ? formatPercent(apr.min) : `${formatPercent(apr.min)} to ${formatPercent(apr.max)}`;
  const tags = offer.features.map(formatFeature);

  const go = createElement(
    'a',
    { class: 'go', href: link, target: '_blank', rel: 'noopener sponsored' },
    offer.prequalification ? 'Check your rate' : 'View offer',
    createElement('span', { class: 'said' }, ` at ${lender} (opens in a new tab)`),
  );
  const tell = () => events.clicked(offer.svc_offer_id);
  go.addEventListener('click', tell);
  // The middle button opens a tab without a click.
  go.addEventListener('auxclick', (event) => event.button === 1 && tell());

  const details = createElement(
    'details',
    { class: 'details' },
    createElement('summary', {}, 'Details', createElement('span', { class: 'said' }, ` of the offer from ${lender}`)),
    createElement(
      'div',
      { class: 'details-text' },
      createElement(
        'p',
        {},
        createElement('strong', {}, 'Representative example. '),
        `A loan of ${loan}, at the middle of this lender’s rates for you, takes ${term} monthly payments of ${payment}: `,
        `${formatDollarsAndCents(offer.monthly_payment_estimate * term)} in all. APR from ${rates}, any origination fee included.`,
      ),
      createElement('p', {}, createElement('strong', {}, 'Terms open to you: '), `${formatMonths(offer.term_months)}.`),
      tags.length > 0 ? createElement('p', {}, createElement('strong', {}, 'Features: '), `${tags.join(', ')}.`) : null,
    ),
  );
  details.addEventListener('toggle', () => details.open && events.detailsOpened(offer.svc_offer_id));

  return createElement(
    'li',
    { class: 'card' },
    createElement(
      'div',
      { class: 'lender' },
      createLogo(lender, offer.logo_url),
      createElement('div', { class: 'who' }, headings.createPartHeading({ class: 'name' }, lender), createStars(offer.svc_star_rating)),
    ),
    createElement(
      'dl',
      { class: 'figures' },
      createFigure('payment', 'Estimated payment', `${payment}/month`, `for ${loan}, APR from ${rates}`),
      createFigure('apr', 'APR range', rates.replace(' to ', '–')),
      createFigure('amount', 'Loan amount', `${formatDollars(amounts.min)}–${formatDollars(amounts.max)}`),
    ),
    tags.length > 0
      ? createElement(
          'ul',
          { class: 'tags', role: 'list' },
          ...tags.slice(0, limits.tagsShownMax).map((tag) => createElement('li', {}, tag)),
        )
      : null,
    createElement(
      'div',
      { class: 'action' },
      go,
      offer.prequalification
        ? createElement('p', { class: 'unharmed' }, 'Checking your rate will not affect your credit score')
        : null,
    ),
    details,
  );
}

function createFigure(kind: string, name: string, value: string, note: string | null = null): HTMLElement {
  return createElement(
    'div',
    { class: `figure ${kind}` },
    createElement('dt', {}, name),
    createElement(
      'dd',
      {},
      createElement('span', { class: 'value' }, value),
      note === null ? null : ' ',
      note === null ? null : createElement('span', { class: 'note' }, note),
    ),
  );
}
