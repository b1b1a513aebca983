import { type Html, html, type Slot } from '../web/html.ts';
import { demoBar } from './demo-bar.ts';

const brand = 'Fernbrook';

interface Layout {
  readonly title: string;
  readonly main: Slot;
  /** Wide pages compare things side by side. */
  readonly width?: 'narrow' | 'wide';
}

/** What all pages have in common. */
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
