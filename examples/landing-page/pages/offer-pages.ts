import type { EmbedResponse, Offer, OffersResponse } from '../api/marketplace-api.ts';
import type { Answers, Visit } from '../experiment/visit.ts';
import { parseAmount } from '../form/form-answers.ts';
import type { Product } from '../products/product.ts';
import { type Html, html, trustedHtml } from '../web/html.ts';
import { formatCount, formatDate, formatFeature, formatWholeDollars } from './formatting.ts';
import { layout } from './layout.ts';

interface OffersPage {
  readonly product: Product;
  readonly visit: Visit;
  /** Whether a new session replaced an expired session. */
  readonly renewed: boolean;
}

/** Renders the top of all pages with offers. */
function offersHeading(title: string, { product, visit, renewed }: OffersPage): Html {
  const { request } = product.offers;
  const amount = request === undefined ? null : parseAmount(visit.answers[request.field]);
  return html`${visit.sandbox && html`<p class="note">Test key: these offers are fictional and their links lead nowhere.</p>`}
${renewed && html`<p class="note" role="status">Your visit had expired, so we looked for offers again.</p>`}
<h1>${title}</h1>
<p class="lead">${amount !== null && html`${request!.text} ${formatWholeDollars(amount)}. `}<a href="/${product.segment}/answers">Change my answers</a></p>`;
}

/**
 * Renders the page with offers from the JSON response.
 *
 * @param available number of offers that the page can show
 */
export function offerCardsPage(page: OffersPage, answer: OffersResponse, available: number): Html {
  const { offers, total_offers: total, disclosure } = answer;
  const { product, visit } = page;
  if (offers.length === 0) return noOffersPage(page);
  const title = total === 1 ? 'One offer for you' : `${formatCount(total)} offers for you`;
  return layout({
    title,
    product,
    main: html`${offersHeading(title, page)}
<p class="disclosure">${disclosure}</p>
${offers.length < total && html`<p>These are the ${offers.length} that fit you best.</p>`}
<ol class="offers">${offers.map((offer) => html`<li>${offerCard(offer, product, visit.answers)}</li>`)}</ol>
${
  offers.length < available &&
  html`<p class="offers-more"><a class="button" href="/${product.segment}/offers?embed=json&amp;more=yes">Show ${available} offers</a></p>`
}
<p class="small">${product.offers.caveat}</p>`,
  });
}

function offerCard(offer: Offer, product: Product, answers: Answers): Html {
  const { prequalification, productName, figures } = product.offers;
  const { lender_name: lender, legal, terms_url: termsUrl, as_of: asOf } = offer;
  const name = productName?.(offer);
  // The names of links must differ between two offers of one lender.
  const offerName = name === undefined ? lender : `${lender}, ${name}`;
  return html`<article class="card offer" aria-labelledby="offer-${offer.svc_offer_id}">
<div class="lender">
<img src="${offer.logo_url}" alt="" width="120" height="40">
<h2 id="offer-${offer.svc_offer_id}">${name ?? lender}</h2>
${name !== undefined && html`<p>${lender}</p>`}
<p class="stars"><span aria-hidden="true">★</span> ${offer.svc_star_rating.toFixed(1)} of 5, editors’ rating</p>
</div>
<dl>${figures(offer, answers).map(
    ({ label, value, note }, place) => html`
<div${place === 0 && html` class="main-figure"`}><dt>${label}</dt><dd><strong>${value}</strong>${note !== undefined && html` <span class="figure-note">${note}</span>`}</dd></div>`,
  )}
</dl>
<ul class="features">
${offer.prequalification && prequalification !== null && html`<li>${prequalification}</li>`}
${offer.features.map((feature) => html`<li>${formatFeature(feature)}</li>`)}
</ul>
<a class="button" href="${offer.click_url}" rel="nofollow sponsored">See the offer<span class="hidden"> of ${offerName}</span></a>
${
  legal !== undefined &&
  html`<p class="legal">${legal}${asOf !== undefined && ` Figures as of ${formatDate(asOf)}.`}${
    termsUrl !== undefined &&
    html` <a href="${termsUrl}" rel="nofollow">Terms<span class="hidden"> of ${offerName}</span></a>`
  }</p>`
}
</article>`;
}

function noOffersPage(page: OffersPage): Html {
  const title = 'No offer fits right now';
  const { segment, offers } = page.product;
  return layout({
    title,
    product: page.product,
    width: 'narrow',
    main: html`${offersHeading(title, page)}
<div class="card">
<p>${offers.none.text}</p>
<ul>
${offers.none.advice.map((advice) => html`<li>${advice}</li>`)}
<li>checking the answers for a typing error.</li>
</ul>
<p><a class="button" href="/${segment}/answers">Change my answers</a></p>
</div>`,
  });
}

/** Color of the buttons (`--accent` in the style sheet), which the widget shares. */
const accent = '0d6b55';

/** Returns the embed code with the colors of this page. The script finds out whether the page is dark, but an iframe cannot see the page. */
function addColors({ format, html, src }: EmbedResponse): string {
  return format === 'iframe'
    ? html.replace(src, `${src}&theme=auto&accent=${accent}`)
    : html.replace('data-sub', `data-accent="#${accent}" data-sub`);
}

/** Renders the page with the widget: the embed code of the API. The widget shows the disclosure and reports views. */
export function widgetPage(page: OffersPage, embed: EmbedResponse): Html {
  const { product } = page;
  const { title } = product.offers;
  return layout({
    title,
    product,
    main: html`${offersHeading(title, page)}
${embed.format === 'iframe' && html`<script src="/size-widget.js"></script>`}
<div class="widget">
${trustedHtml(addColors(embed))}
</div>
<noscript><p class="note">These offers need JavaScript. <a href="/${product.segment}/offers?embed=json">See them without it</a></p></noscript>`,
  });
}
