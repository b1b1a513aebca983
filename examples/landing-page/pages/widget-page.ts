import type { EmbedAnswer } from '../api/shapes.ts';
import type { Visit } from '../experiment/visit.ts';
import { type Html, html, trustedHtml } from '../web/html.ts';
import { layout } from './layout.ts';
import { offersHead } from './offers-head.ts';

/** Offers drawn by the widget: the API's markup as it came, in a place of ours. It brings disclosure and counting along. */
export function widgetPage(visit: Visit, embed: EmbedAnswer, renewed: boolean): Html {
  return layout({
    title: 'What lenders may offer you',
    main: html`${offersHead('What lenders may offer you', visit, renewed)}
${embed.format === 'iframe' && html`<script src="/size-widget.js"></script>`}
<div class="widget">
${trustedHtml(embed.html)}
</div>
<noscript><p class="note">These offers need JavaScript. <a href="/offers?embed=json">See them without it</a></p></noscript>`,
  });
}
