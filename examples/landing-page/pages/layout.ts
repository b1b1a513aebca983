import { type Html, html, type Slot } from '../web/html.ts';

/** Navigation between the pages of the example, for developers. A public landing page does not need this. */
function demoBar(): Html {
  return html`<nav class="demo" aria-label="This example">
<strong>Example</strong>
<ul>
<li><a href="/?variant=a">Variant A</a></li>
<li><a href="/?variant=b">Variant B</a></li>
<li><a href="/offers?embed=iframe">Offers in a frame</a></li>
<li><a href="/offers?embed=js">by script</a></li>
<li><a href="/offers?embed=json">as cards</a></li>
<li><a href="/results">Results</a></li>
</ul>
</nav>`;
}

const brand = 'Fernbrook';

interface Layout {
  readonly title: string;
  readonly main: Slot;
  /** Uses a wider layout, for comparisons in columns. */
  readonly width?: 'narrow' | 'wide';
}

/** Renders the common layout of all pages. */
export function layout({ title, main, width = 'wide' }: Layout): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} | ${brand}</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><a class="brand" href="/"><img src="/icon.svg" alt="" width="32" height="32">${brand}</a></header>
<main id="main" class="${width}">
${main}
</main>
<footer class="bottom">
<p>${brand} is not a lender and makes no credit decisions. It compares offers of lenders for personal loans. Rates and
payments are estimates; what a lender offers you may differ.</p>
<p>A demonstration: ${brand} and its lenders are made up. Your answers go to the marketplace that finds your offers, and are
kept in this browser, sealed, until you close it.</p>
</footer>
${demoBar()}
</body>
</html>
`;
}

/** Renders a page with a message and a link. */
export function messagePage(title: string, text: string, link: { readonly to: string; readonly text: string }): Html {
  return layout({
    title,
    width: 'narrow',
    main: html`<div class="card message">
<h1>${title}</h1>
<p>${text}</p>
<p><a class="button" href="${link.to}">${link.text}</a></p>
</div>`,
  });
}
