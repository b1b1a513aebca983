import type { Visit } from '../experiment/visit.ts';
import { parseLoanAmount } from '../form/pocket-fields.ts';
import { type Html, html } from '../web/html.ts';
import { formatWholeDollars } from './numbers.ts';

/** The head of both pages with offers. */
export function offersHeading(title: string, { answers, sandbox }: Visit, renewed: boolean): Html {
  const amount = parseLoanAmount(answers);
  return html`${sandbox && html`<p class="note">Made up by the sandbox: these offers lead nowhere.</p>`}
${renewed && html`<p class="note" role="status">It has been a while, so we looked for offers anew.</p>`}
<h1>${title}</h1>
<p class="lead">${amount !== null && html`For a loan of ${formatWholeDollars(amount)}. `}<a href="/answers">Change my answers</a></p>`;
}
