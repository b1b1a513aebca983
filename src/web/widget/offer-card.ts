import { createElement, parseWebUrl } from './dom.ts';
import { formatDollars, formatDollarsAndCents, formatMonths, formatOfferFeature, formatPercent } from './format.ts';
import { widgetLimits } from './limits.ts';
import type { Offer } from './offers-client.ts';

const starsMax = 5;

/** Creates a text that only screen readers read. */
function createHiddenText(text: string): HTMLElement {
  return createElement('span', { class: 'visually-hidden' }, text);
}

/** Creates the star rating of an offer as star symbols and as text. */
function createStars(rating: number): HTMLElement {
  const row = '★'.repeat(starsMax);
  const filled = createElement('span', { class: 'stars-filled' }, row);
  filled.style.inlineSize = `${(Math.min(Math.max(rating, 0), starsMax) / starsMax) * 100}%`;
  return createElement(
    'p',
    { class: 'rating' },
    createElement('span', { class: 'stars', 'aria-hidden': 'true' }, row, filled),
    createElement('span', {}, `${rating.toFixed(1)} out of ${starsMax}`, createHiddenText(' stars')),
  );
}

/** Creates a box of fixed size with the lender's logo, or with the lender's initial if the logo cannot be loaded. */
function createLogo(lender: string, logoUrl: string): HTMLElement {
  const initial = createElement('span', { 'aria-hidden': 'true' }, lender.charAt(0).toUpperCase());
  const box = createElement('span', { class: 'logo' }, initial);
  const source = parseWebUrl(logoUrl);
  if (source === null) return box;
  const picture = createElement('img', { alt: `${lender} logo`, width: '42', height: '42', decoding: 'async' });
  picture.addEventListener('error', () => picture.replaceWith(initial));
  picture.src = source;
  box.replaceChildren(picture);
  return box;
}

/** Creates a placeholder card with the usual height of an offer card, so that the layout does not shift when the offers are loaded. */
export function createPlaceholderCard(): HTMLElement {
  return createElement(
    'li',
    { class: 'card placeholder', 'aria-hidden': 'true' },
    createElement('span', { class: 'placeholder-part placeholder-logo' }),
    createElement('span', { class: 'placeholder-part placeholder-figures' }),
    createElement('span', { class: 'placeholder-part placeholder-action' }),
  );
}

interface CardEvents {
  readonly detailsOpened: (offerId: string) => void;
  readonly clicked: (offerId: string) => void;
}

/**
 * Creates the card of one offer. The card must show the loan amount, term and APR range after the monthly payment (Regulation Z, 12 CFR
 * 1026.24(d)).
 */
export function createOfferCard(
  offer: Offer,
  link: string,
  loanAmount: number,
  heading: 'h2' | 'h3',
  events: CardEvents,
): HTMLElement {
  const { apr_range: apr, loan_amount_range: amounts, payment_term_months: term, lender_name: lender } = offer;
  const payment = formatDollarsAndCents(offer.monthly_payment_estimate);
  const loan = `${formatDollars(loanAmount)} over ${term} months`;
  const rates = apr.min === apr.max ? formatPercent(apr.min) : `${formatPercent(apr.min)} to ${formatPercent(apr.max)}`;
  const tags = offer.features.map(formatOfferFeature);

  const go = createElement(
    'a',
    { class: 'go', href: link, target: '_blank', rel: 'noopener sponsored' },
    offer.prequalification ? 'Check your rate' : 'View offer',
    createHiddenText(` at ${lender} (opens in a new tab)`),
  );
  const reportClick = () => events.clicked(offer.svc_offer_id);
  go.addEventListener('click', reportClick);
  // Handles clicks with the middle mouse button, which open a tab without a `click` event.
  go.addEventListener('auxclick', (event) => event.button === 1 && reportClick());

  const details = createElement(
    'details',
    { class: 'details' },
    createElement('summary', {}, 'Details', createHiddenText(` of the offer from ${lender}`)),
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
      createElement(
        'div',
        { class: 'lender-name' },
        createElement(heading, { class: 'name' }, lender),
        createStars(offer.svc_star_rating),
      ),
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
          ...tags.slice(0, widgetLimits.tagsShownMax).map((tag) => createElement('li', {}, tag)),
        )
      : null,
    createElement(
      'div',
      { class: 'action' },
      go,
      offer.prequalification
        ? createElement('p', { class: 'no-credit-impact' }, 'Checking your rate will not affect your credit score')
        : null,
    ),
    details,
  );
}

function createFigure(kind: string, name: string, value: string, note: string | null = null): HTMLElement {
  const notes = note === null ? [] : [' ', createElement('span', { class: 'note' }, note)];
  return createElement(
    'div',
    { class: `figure ${kind}` },
    createElement('dt', {}, name),
    createElement('dd', {}, createElement('span', { class: 'value' }, value), ...notes),
  );
}
