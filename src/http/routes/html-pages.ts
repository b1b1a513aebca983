import { createHash } from 'node:crypto';
import { microsToUsd } from '../../domain/money.ts';
import type { DescribedClick } from '../../operations/describe-click.ts';

// HTML pages for visitors of the redirect host and for the iframe of the widget. The pages contain no text from the request.

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
main { max-width: 34rem; margin: 15vh auto 0; padding: 0 1.5rem }
h1 { font-size: 1.4rem }
`;

/** Content-Security-Policy of all pages of this file, which allows nothing but the style sheet of the pages. */
export const noticePageCsp = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const renderPage = (title: string, ...paragraphs: readonly string[]) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${paragraphs.map((text) => `<p>${text}</p>`).join('\n')}
</main>
</body>
</html>
`;

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Page that a visitor sees after following an invalid click URL (docs/contract.md#click-urls). */
export const clickNotFoundPage = renderPage(
  'This offer link does not work',
  'The link is incomplete, or the offer behind it is no longer there. Go back to the page you came from and choose an offer again.',
);

export const clickRetryPage = renderPage('One moment', 'This page loads the offer in a second.');

/**
 * Renders the landing page of clicks in sandbox sessions (docs/contract.md#test-keys-and-the-sandbox).
 *
 * @param click the click that led to the page; null if the URL names none
 */
export function sandboxLandingPage(click: DescribedClick | null): string {
  return renderPage(
    'Sandbox landing page',
    'This click came from a session made with a test key. It was counted, at zero revenue, and no lender was involved.',
    click === null
      ? 'With a live key it would have led to the lender.'
      : `With a live key, the click would have led to ${nameOffer(click)}.` +
          (click.valueMicros === null ? '' : ` It would have booked ${formatRevenue(click.valueMicros)}.`),
  );
}

/** Renders the landing page of the example catalogs. @param click as in `sandboxLandingPage` */
export function exampleLandingPage(click: DescribedClick | null): string {
  return renderPage(
    'Example landing page',
    'The lenders of the example catalogs do not exist, so this page replaces their pages. In a catalog of your own, <code>landing_url</code> ' +
      'names the page of the lender.',
    click === null
      ? 'Each click of an offer leads to the lender of the offer.'
      : `The click would have led to ${nameOffer(click)}. ` +
          (click.valueMicros
            ? `It booked ${formatRevenue(click.valueMicros)}.`
            : 'It booked no revenue; <code>clicks_not_booked</code> in the analytics has the reason.'),
  );
}

function nameOffer({ lenderName, offerId }: DescribedClick): string {
  return `<strong>${escapeHtml(lenderName)}</strong>, offer <code>${escapeHtml(offerId)}</code>`;
}

function formatRevenue(micros: number): string {
  return `an expected revenue of <strong>$${microsToUsd(micros).toFixed(2)}</strong>`;
}

/** Page that the iframe of a widget shows for an invalid widget link (docs/contract.md#widget-tokens). */
export const widgetLinkInvalidPage = renderPage(
  'Offers cannot be shown here',
  'The link to these offers is incomplete or was changed. Reload the page you are on to get new ones.',
);

/** Page that the iframe of a widget shows if its session has expired. */
export const widgetExpiredPage = renderPage(
  'These offers are out of date',
  'Offers are shown for a few hours after you ask for them. Reload the page you are on to get new ones.',
);

/** Page that the iframe of a widget shows on a page whose origin the account does not allow. */
export const widgetOriginRefusedPage = renderPage(
  'Offers cannot be shown on this page',
  'This page is not set up to show them yet. The owner of the page can ask the operator of the offers to allow the address of the page.',
);
