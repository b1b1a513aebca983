import { scriptElement, type WidgetParameters } from './embed-html.ts';

/** The document inside the iframe: the same script, mounted in a page of our own. */
export function widgetPageHtml(scriptUrl: string, nonce: string, widget: WidgetParameters): string {
  const mount = 'svc-offers';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Offers for you</title>
<style nonce="${nonce}">:root { color-scheme: light dark } body { margin: 0 }</style>
</head>
<body>
<main id="${mount}"></main>
${scriptElement(scriptUrl, `#${mount}`, widget, ` data-embed="iframe" nonce="${nonce}"`)}
<noscript>Offers are shown with JavaScript, which is switched off here.</noscript>
</body>
</html>
`;
}

/** What such a page may load: its script by its nonce, offers from its own host, logos from the image host, and nothing else. */
export function widgetPageCsp(nonce: string, ownOrigin: string, cdnOrigin: string, frameAncestors: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    `connect-src ${ownOrigin}`,
    `img-src ${cdnOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors}`,
  ].join('; ');
}
