import { products } from '../products/products.ts';
import { type Html, html } from '../web/html.ts';
import { layout } from './layout.ts';

/** Renders the start page, which links the landing pages of all products. */
export function startPage(): Html {
  return layout({
    title: 'Compare offers',
    product: null,
    main: html`<h1>What are you looking for?</h1>
<p class="lead">A few questions, and you see which offers you can get. Comparing is free and leaves your credit score alone.</p>
<ul class="products">${products.map(
      ({ segment, name, summary }) => html`<li class="card">
<h2>${name}</h2>
<p>${summary}</p>
<a class="button" href="/${segment}">Compare<span class="hidden"> ${name}</span></a>
</li>`,
    )}</ul>`,
  });
}
