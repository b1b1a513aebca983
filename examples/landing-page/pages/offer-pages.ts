import type { EmbedResponse, Offer, OffersResponse } from '../api/marketplace-api.ts';
import type { Visit } from '../experiment/visit.ts';
import { parseLoanAmount } from '../form/form-answers.ts';
import { type Html, html, trustedHtml } from '../web/html.ts';
import { formatCount, formatDollars, formatWholeDollars } from './formatting.ts';
import { layout } from './layout.ts';

/** Renders the top of both pages with offers. */
function offersHeading(title: string, { answers, sandbox }: Visit, renewed: boolean): Html {
  const amount = parseLoanAmount(answers);
  return html`${sandbox && html`<p class="note">Made up by the sandbox: these offers lead nowhere.</p>`}
${renewed && html`<p class="note" role="status">It has been a while, so we looked for offers anew.</p>`}
<h1>${title}</h1>
<p class="lead">${amount !== null && html`For a loan of ${formatWholeDollars(amount)}. `}<a href="/answers">Change my answers</a></p>`;
}

/** Renders the page with offers from the JSON response. */
export function offerCardsPage(visit: Visit, answer: OffersResponse, renewed: boolean): Html {
  const { offers, total_offers: total, disclosure } = answer;
  const amount = parseLoanAmount(visit.answers);
  if (offers.length === 0) return noOffersPage(visit, renewed);
  const title = total === 1 ? 'One offer for you' : `${formatCount(total)} offers for you`;
  return layout({
    title,
    main: html`${offersHeading(title, visit, renewed)}
<p class="disclosure">${disclosure}</p>
${offers.length < total && html`<p>The ${offers.length} that fit you best come first.</p>`}
<ol class="offers">${offers.map((offer) => html`<li>${offerCard(offer, amount)}</li>`)}</ol>
<p class="small">No credit decision has been made. Each lender checks your application and decides by itself, and what it
offers you may differ from these estimates.</p>`,
  });
}

function offerCard(offer: Offer, amount: number | null): Html {
  const { lender_name: lender, apr_range: apr, loan_amount_range: amounts, payment_term_months: term } = offer;
  return html`<article class="card offer" aria-labelledby="offer-${offer.svc_offer_id}">
<div class="lender">
<img src="${offer.logo_url}" alt="" width="120" height="40">
<h2 id="offer-${offer.svc_offer_id}">${lender}</h2>
<p class="stars"><span aria-hidden="true">★</span> ${offer.svc_star_rating.toFixed(1)} of 5, editors’ rating</p>
</div>
<dl>
<div class="payment"><dt>Monthly payment, about</dt><dd><strong>${formatDollars(offer.monthly_payment_estimate)}</strong>
<span>${amount !== null && ` for ${formatWholeDollars(amount)}`}${term !== undefined && ` over ${term} months`}</span></dd></div>
<div><dt>APR</dt><dd>${apr.min.toFixed(2)}% to ${apr.max.toFixed(2)}%</dd></div>
<div><dt>Amounts</dt><dd>${formatWholeDollars(amounts.min)} to ${formatWholeDollars(amounts.max)}</dd></div>
<div><dt>Terms</dt><dd>${offer.term_months.join(', ')} months</dd></div>
</dl>
<ul class="features">
${offer.prequalification && html`<li>Check your rate before you apply</li>`}
${offer.features.map((feature) => html`<li>${featureText(feature)}</li>`)}
</ul>
<a class="button" href="${offer.click_url}" rel="nofollow sponsored">See the offer<span class="hidden"> of ${lender}</span></a>
</article>`;
}

function noOffersPage(visit: Visit, renewed: boolean): Html {
  const title = 'No offer fits right now';
  return layout({
    title,
    width: 'narrow',
    main: html`${offersHeading(title, visit, renewed)}
<div class="card">
<p>None of the lenders we compare would lend this amount on these answers today. What often helps:</p>
<ul>
<li>a smaller amount, or a longer time to pay it back,</li>
<li>somebody who borrows together with you,</li>
<li>checking the answers for a slip of the keyboard.</li>
</ul>
<p><a class="button" href="/answers">Change my answers</a></p>
</div>`,
  });
}

/** Formats a tag: `no_prepayment_penalty` becomes `No prepayment penalty`. There is no list of tags, because new ones can appear. */
function featureText(tag: string): string {
  return tag.charAt(0).toUpperCase() + tag.slice(1).replaceAll('_', ' ');
}

/** Renders the page with the widget: the unchanged embed code of the API. The widget shows the disclosure and reports views. */
export function widgetPage(visit: Visit, embed: EmbedResponse, renewed: boolean): Html {
  return layout({
    title: 'What lenders may offer you',
    main: html`${offersHeading('What lenders may offer you', visit, renewed)}
${embed.format === 'iframe' && html`<script src="/size-widget.js"></script>`}
<div class="widget">
${trustedHtml(embed.html)}
</div>
<noscript><p class="note">These offers need JavaScript. <a href="/offers?embed=json">See them without it</a></p></noscript>`,
  });
}
