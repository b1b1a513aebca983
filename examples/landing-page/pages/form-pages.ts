import type { Answers } from '../experiment/visit.ts';
import { type Field, fields } from '../form/fields.ts';
import type { FieldErrors } from '../form/form-answers.ts';
import { askedFields, firstQuestion, type Question, questions } from '../form/questions.ts';
import { type Html, html, type Slot } from '../web/html.ts';
import { layout } from './layout.ts';

/** Answers of the visitor, and errors to show in the form. */
interface FormState {
  readonly answers: Answers;
  readonly errors: FieldErrors;
  /** Message about the whole form, such as the reason of a failed submission. */
  readonly notice: string | null;
}

/** Renders the error summary above the form, with a link to each invalid field. Screen readers read it first. */
function errorSummary({ errors, notice }: FormState): Slot {
  const faulty = [...fields.values()].filter(({ name }) => errors[name] !== undefined);
  if (faulty.length === 0 && notice === null) return null;
  // `autofocus` moves the focus to the summary without a script.
  return html`<div class="problems" role="alert" tabindex="-1" autofocus>
${notice !== null && html`<p>${notice}</p>`}
${
  faulty.length > 0 &&
  html`<p>Please look at ${faulty.length === 1 ? 'one answer' : `${faulty.length} answers`} again:</p>
<ul>${faulty.map(({ name, label }) => html`<li><a href="#${name}">${label}</a> ${errors[name]}</li>`)}</ul>`
}
</div>`;
}

/** Renders a field with its label, hint and error. `radios` shows the choices as radio buttons. */
function fieldControl(name: string, { answers, errors }: FormState, look: { radios: boolean }): Html {
  const field = fields.get(name)!;
  const control: Control = { field, value: answers[name] ?? '', error: errors[name] };
  const only = field.onlyFor === undefined ? '' : ` only-${field.onlyFor}`;
  if (field.choices !== undefined && look.radios) return radioGroup(control, only);
  return html`<div class="field${only}">
<label for="${name}">${field.label}${!field.required && html` <span class="optional">optional</span>`}</label>
${hintAndError(control)}
${field.choices === undefined ? textInput(control) : select(control, field.choices)}
</div>`;
}

interface Control {
  readonly field: Field;
  readonly value: string;
  readonly error: string | undefined;
}

function hintAndError({ field: { name, hint }, error }: Control): Slot {
  return [
    hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`,
    error !== undefined && html`<p class="error" id="${name}-error">${error}</p>`,
  ];
}

/** Attributes that connect a control with its hint and error for screen readers. */
function controlAttributes({ field: { name, hint, required, onlyFor }, error }: Control): Slot {
  const describedBy = [hint !== undefined && `${name}-hint`, error !== undefined && `${name}-error`].filter(Boolean);
  return [
    describedBy.length > 0 && html` aria-describedby="${describedBy.join(' ')}"`,
    error !== undefined && html` aria-invalid="true"`,
    required && onlyFor === undefined && html` required`,
  ];
}

function textInput(control: Control): Html {
  const { field, value } = control;
  const { name, autocomplete = 'off' } = field;
  const common = html`id="${name}" name="${name}" value="${value}" autocomplete="${autocomplete}"${controlAttributes(control)}`;
  return html`<span class="dollars"><input class="box" type="text" inputmode="numeric" maxlength="15" ${common}></span>`;
}

function select(control: Control, choices: NonNullable<Field['choices']>): Html {
  const { name, autocomplete = 'off' } = control.field;
  return html`<select class="box" id="${name}" name="${name}" autocomplete="${autocomplete}"${controlAttributes(control)}>
<option value="">Please choose</option>
${choices.map(([value, label]) => html`<option value="${value}"${value === control.value && html` selected`}>${label}</option>`)}
</select>`;
}

function radioGroup(control: Control, only: string): Html {
  const { name, label, choices = [], required } = control.field;
  // A fieldset does not support `required` and `aria-invalid`, so each of its buttons references the error.
  return html`<fieldset class="field choices${only}">
<legend>${label}${!required && html` <span class="optional">optional</span>`}</legend>
${hintAndError(control)}
<div class="cards">${choices.map(
    ([value, text], place) => html`<label class="choice">
<input type="radio" id="${place === 0 ? name : `${name}-${place}`}" name="${name}" value="${value}"${value === control.value && html` checked`}${controlAttributes(control)}>
<span>${text}</span></label>`,
  )}</div>
</fieldset>`;
}

/** Renders variant A: one form with all fields, after an explanation. */
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

/** Questions that every visitor gets: all except the optional one. */
const requiredQuestions = questions.filter(({ optional }) => !optional);

/** Renders variant B: one question per page. */
export function questionPage(question: Question, state: FormState): Html {
  const place = requiredQuestions.indexOf(question);
  const asked = askedFields(question, state.answers);
  const isFirst = question === firstQuestion;
  const before = questions[questions.indexOf(question) - 1];
  const faulty = Object.keys(state.errors).length > 0;
  // The label of a single field is the heading of the page, so that the question appears once.
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
