import { type Html, html } from '../web/html.ts';
import { layout } from './layout.ts';

/** A page that only says something, and where to go from here. */
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
