import type { EmbedResponse } from '../api/shapes.ts';
import type { Visit } from '../experiment/visit.ts';
import { type Html, html, trustedHtml } from '../web/html.ts';
import { layout } from './layout.ts';
import { offersHeading } from './offers-head.ts';

/** Offers drawn by the widget: the API's markup as it came, in a place of ours. It brings disclosure and counting along. */
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
