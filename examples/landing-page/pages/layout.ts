import type { Product } from '../products/product.ts';
import { products } from '../products/products.ts';
import { type Html, html, type Slot } from '../web/html.ts';
import type { Reply } from '../web/reply.ts';

/** Navigation between the pages of a product, for developers. A public landing page does not need this. */
function demoBar({ segment, name }: Product): Html {
  return html`<nav class="demo" aria-label="This example">
<strong>${name}</strong>
<ul>
<li><a href="/${segment}?variant=a">Variant A</a></li>
<li><a href="/${segment}?variant=b">Variant B</a></li>
<li><a href="/${segment}/offers?embed=iframe">Offers in a frame</a></li>
<li><a href="/${segment}/offers?embed=js">by script</a></li>
<li><a href="/${segment}/offers?embed=json">as cards</a></li>
<li><a href="/${segment}/results">Results</a></li>
</ul>
</nav>`;
}

const brand = 'Fernbrook';

interface Layout {
  readonly title: string;
  readonly main: Slot;
  /** Product of the page; null for pages about no product. */
  readonly product: Product | null;
  /** Uses a wider layout, for comparisons in columns. */
  readonly width?: 'narrow' | 'wide';
}

/** Renders the common layout of all pages. */
export function layout({ title, main, product, width = 'wide' }: Layout): Html {
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
<header class="top">
<a class="brand" href="/"><img src="/icon.svg" alt="" width="32" height="32">${brand}</a>
<nav aria-label="Products"><ul class="menu">${products.map(
    (linked) =>
      html`<li><a href="/${linked.segment}"${linked === product && html` aria-current="true"`}>${linked.name}</a></li>`,
  )}</ul></nav>
</header>
<main id="main" class="${width}">
${main}
</main>
<footer class="bottom">
<p>${brand} is not a lender, card issuer or bank, and makes no credit decisions. It compares offers. Figures are estimates; what a
lender, issuer or bank offers you may differ.</p>
<p>This is a demonstration: ${brand} and the companies in the offers are fictional. Your answers go to the marketplace that finds your
offers, and are stored encrypted in this browser until you close it.</p>
</footer>
${product !== null && demoBar(product)}
</body>
</html>
`;
}

interface Message {
  readonly title: string;
  readonly text: string;
  readonly link: { readonly to: string; readonly text: string };
  readonly product: Product | null;
}

/** Renders a page with a message and a link. */
export function messagePage({ title, text, link, product }: Message): Html {
  return layout({
    title,
    product,
    width: 'narrow',
    main: html`<div class="card message">
<h1>${title}</h1>
<p>${text}</p>
<p><a class="button" href="${link.to}">${link.text}</a></p>
</div>`,
  });
}

/** Returns an error page with a link to the first page of the product, or to the start page. */
export function errorPage(status: number, title: string, text: string, product: Product | null = null): Reply {
  const link = { to: `/${product?.segment ?? ''}`, text: 'To the first page' };
  return { status, body: messagePage({ title, text, link, product }) };
}

export function notFoundPage(product: Product | null = null): Reply {
  return errorPage(404, 'There is no such page', 'The address may contain a typing error.', product);
}
