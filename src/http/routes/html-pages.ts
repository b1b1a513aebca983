// HTML pages for visitors of the redirect host and for the iframe of the widget. The pages contain no text from the request.

const renderPage = (title: string, text: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
main { max-width: 34rem; margin: 15vh auto 0; padding: 0 1.5rem }
h1 { font-size: 1.4rem }
</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${text}</p>
</main>
</body>
</html>
`;

/** Page that a visitor sees after following an invalid click URL (docs/contract.md#click-urls). */
export const clickNotFoundPage = renderPage(
  'This offer link does not work',
  'The link is incomplete, or the offer behind it is no longer there. Go back to the page you came from and choose an offer again.',
);

/** Landing page to which clicks in sandbox sessions are redirected (docs/contract.md#test-keys-and-the-sandbox). */
export const sandboxLandingPage = renderPage(
  'Sandbox landing page',
  'This click came from a session made with a test key. It was counted, at zero revenue, and no lender was involved. With a live key it would have led to the lender.',
);

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
