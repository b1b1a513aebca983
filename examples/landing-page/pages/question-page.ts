import { askedFields, firstQuestion, type Question, questions } from '../form/questions.ts';
import { type Html, html } from '../web/html.ts';
import { type FormState, fieldControl, errorSummary } from './form-parts.ts';
import { layout } from './layout.ts';

/** Everybody gets these; the optional one comes on top. */
const requiredQuestions = questions.filter(({ optional }) => !optional);

/** Variant B: one thing at a time. */
export function questionPage(question: Question, state: FormState): Html {
  const place = requiredQuestions.indexOf(question);
  const asked = askedFields(question, state.answers);
  const isFirst = question === firstQuestion;
  const before = questions[questions.indexOf(question) - 1];
  const faulty = Object.keys(state.errors).length > 0;
  // A lone question is the heading itself, so that nothing is said twice.
  const alone = asked.length === 1;
  return layout({
    title: `${faulty ? 'Error: ' : ''}${isFirst ? 'Your loan offers in a minute' : question.title}`,
    width: 'narrow',
    main: html`${
      isFirst &&
      html`<h1>Your loan offers in a minute</h1>
<p class="lead">Four short questions. Comparing leaves your credit score alone.</p>`
    }
<form class="card quiz${alone && ' lone'}" method="post" action="/answers" novalidate>
<input type="hidden" name="question" value="${question.id}">
<p class="step">${question.optional ? 'Almost there' : `Question ${place + 1} of ${requiredQuestions.length}`}</p>
<progress max="${requiredQuestions.length}" value="${question.optional ? requiredQuestions.length : place}" aria-label="Questions answered"></progress>
${!isFirst && html`<h1${alone && html` class="hidden"`}>${question.title}</h1>`}
${errorSummary(state)}
${asked.map((name) => fieldControl(name, state, { radios: name !== 'state' }))}
<div class="buttons">
<button type="submit">${isFirst ? 'Start' : 'Continue'}</button>
${question.optional && html`<button type="submit" class="quiet" name="skip" value="yes">Skip this</button>`}
${before !== undefined && html`<a class="back" href="/questions/${before.id}">Back</a>`}
</div>
</form>`,
  });
}
