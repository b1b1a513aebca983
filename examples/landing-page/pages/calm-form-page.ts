import { type Html, html } from '../web/html.ts';
import { type FormState, fieldControl, errorSummary } from './form-parts.ts';
import { layout } from './layout.ts';

/** Variant A: everything on one page, explained beforehand. */
export function singleFormPage(state: FormState): Html {
  const field = (name: string) => fieldControl(name, state, { radios: false });
  const faulty = Object.keys(state.errors);
  return layout({
    title: `${faulty.length > 0 ? 'Error: ' : ''}Compare personal loans`,
    main: html`<div class="split">
<div class="pitch">
<h1>A personal loan that fits, without the guesswork</h1>
<p class="lead">Tell us what you need once. We show you what lenders would offer you: the rate, the monthly payment and the
term, side by side.</p>
<ul class="ticks">
<li>Comparing leaves your credit score alone</li>
<li>No name, e-mail address or phone number</li>
<li>Free of charge for you</li>
</ul>
</div>
<form class="card" method="post" action="/answers" novalidate>
${errorSummary(state)}
<h2>Your loan</h2>
${field('loan_amount')}
${field('loan_purpose')}
${field('monthly_debt_payments')}
${field('housing_status')}
<h2>About you</h2>
${field('credit_score_range')}
${field('annual_income')}
${field('employment_status')}
${field('state')}
<button type="submit">See my offers</button>
<p class="small">This is no application, and no lender decides anything yet.</p>
</form>
</div>`,
  });
}
