import { createElement, parseWebUrl } from './dom.ts';
import { formatDate, formatIfPresent, formatMonths, formatOfferFeature } from './format.ts';
import * as widgetLimits from './limits.ts';
import type { Offer } from './offer.ts';
import type { Figure, ProductView } from './products/product-view.ts';

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
    ...['logo', 'figures', 'action'].map((part) =>
      createElement('span', { class: `placeholder-part placeholder-${part}` }),
    ),
  );
}

interface CardEvents {
  readonly detailsOpened: (offerId: string) => void;
  readonly clicked: (offerId: string) => void;
}

/**
 * Creates the card of one offer.
 *
 * @param link validated click URL
 * @param loanAmount requested loan amount in USD; null for products without one
 */
export function createOfferCard(
  offer: Offer,
  link: string,
  product: ProductView,
  loanAmount: number | null,
  heading: 'h2' | 'h3',
  events: CardEvents,
): HTMLElement {
  const { lender_name: lender, prequalification } = offer;
  const { action } = product;
  const { productName, lenderNote, figures, details: detailParts } = product.createOfferCardContent(offer, loanAmount);
  // The names of links must differ between two offers of one lender.
  const offerName = productName ? `${lender}, ${productName}` : lender;
  const tags = offer.features.map(formatOfferFeature);
  const logo = createLogo(lender, offer.logo_url);

  const go = createElement(
    'a',
    { class: 'go', href: link, target: '_blank', rel: 'noopener sponsored' },
    prequalification ? action.prequalificationText : action.text,
    createHiddenText(` at ${offerName} (opens in a new tab)`),
  );
  const reportClick = () => events.clicked(offer.svc_offer_id);
  go.addEventListener('click', reportClick);
  // Handles clicks with the middle mouse button, which open a tab without a `click` event.
  go.addEventListener('auxclick', (event) => event.button === 1 && reportClick());

  const details = createElement(
    'details',
    { class: 'details' },
    createElement('summary', {}, 'Details', createHiddenText(` of the offer from ${offerName}`)),
    createElement(
      'div',
      { class: 'details-text' },
      ...detailParts,
      createLabeledText('Features:', tags.length > 0 ? `${tags.join(', ')}.` : null),
    ),
  );
  details.addEventListener('toggle', () => details.open && events.detailsOpened(offer.svc_offer_id));

  return createElement(
    'li',
    { class: 'card' },
    createElement(
      'div',
      { class: 'lender' },
      product.createPicture?.(logo, offer) ?? logo,
      createElement(
        'div',
        { class: 'lender-name' },
        createElement(heading, { class: 'name' }, productName || lender),
        productName ? createElement('p', { class: 'lender-note' }, lender) : null,
        lenderNote === null ? null : createElement('p', { class: 'lender-note' }, lenderNote),
        createStars(offer.svc_star_rating),
      ),
    ),
    createElement('dl', { class: 'figures' }, ...figures.map(createFigure)),
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
      prequalification && action.prequalificationNote !== null
        ? createElement('p', { class: 'no-credit-impact' }, action.prequalificationNote)
        : null,
    ),
    details,
    createSmallPrint(offer, offerName),
  );
}

/** Creates the lender's own disclosure, with its date and a link to the terms. Returns null for an offer without these members. */
function createSmallPrint({ legal, terms_url, as_of }: Offer, offerName: string): HTMLElement | null {
  const termsUrl = parseWebUrl(terms_url);
  const date = formatIfPresent(as_of, formatDate);
  if (!legal && termsUrl === null && date === null) return null;
  const terms =
    termsUrl === null
      ? null
      : createElement(
          'a',
          { class: 'terms', href: termsUrl, target: '_blank', rel: 'noopener' },
          'Rates and terms',
          createHiddenText(` of ${offerName} (opens in a new tab)`),
        );
  return createElement(
    'div',
    { class: 'small-print' },
    legal ? createElement('p', { class: 'legal' }, legal) : null,
    createElement('p', { class: 'confirmed' }, terms, date === null ? null : ` Figures as of ${date}`),
  );
}

/** Creates a figure in the list of figures. Returns null if the offer lacks the value. */
function createFigure([kind, name, value, note]: Figure): HTMLElement | null {
  if (value === null || value === undefined) return null;
  const notes = note ? [' ', createElement('span', { class: 'note' }, note)] : [];
  return createElement(
    'div',
    { class: `figure ${kind}` },
    createElement('dt', {}, name),
    createElement('dd', {}, createElement('span', { class: 'value' }, value), ...notes),
  );
}

/** Creates a paragraph that starts with a label. Returns null if the offer lacks the text. */
export function createLabeledText(label: string, text: string | null | undefined): HTMLElement | null {
  return text === null || text === undefined
    ? null
    : createElement('p', {}, createElement('strong', {}, `${label} `), text);
}

/** Creates the text with the loan terms that the borrower can choose from. */
export function createTermsText({ term_months: terms }: Offer): HTMLElement | null {
  return createLabeledText('Terms open to you:', terms.length > 0 ? `${formatMonths(...terms)}.` : null);
}

/**
 * Creates a table in the details section, whose first column names the rows. Omits rows without values.
 *
 * @param columns names of the columns; null for a table of names and values
 */
export function createTable(
  caption: string,
  columns: readonly string[] | null,
  rows: readonly (readonly [name: string, ...values: (string | null)[]])[],
): HTMLElement {
  const head = columns?.map((name) => createElement('th', { scope: 'col' }, name));
  return createElement(
    'table',
    {},
    createElement('caption', {}, caption),
    head === undefined ? null : createElement('thead', {}, createElement('tr', {}, ...head)),
    createElement(
      'tbody',
      {},
      ...rows
        .filter(([, ...values]) => !values.includes(null))
        .map(([name, ...values]) =>
          createElement(
            'tr',
            {},
            createElement('th', { scope: 'row' }, name),
            ...values.map((value) => createElement('td', {}, value)),
          ),
        ),
    ),
  );
}
