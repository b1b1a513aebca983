import type { Answers } from '../experiment/visit.ts';
import type { Field } from '../form/fields.ts';
import type { FieldErrors } from '../form/form-answers.ts';
import { askedFields, type Question } from '../form/questions.ts';
import { fieldsOf, type Product } from '../products/product.ts';
import { type Html, html, type Slot } from '../web/html.ts';
import { layout } from './layout.ts';

/** Answers of the visitor, and errors to show in the form. */
interface FormState {
  readonly product: Product;
  readonly answers: Answers;
  readonly errors: FieldErrors;
  /** Message about the whole form, such as the reason of a failed submission. */
  readonly notice: string | null;
}

/** Renders the error summary above the form, with a link to each invalid field. Screen readers read it first. */
function errorSummary({ product, errors, notice }: FormState): Slot {
  const faulty = fieldsOf(product).filter(({ name }) => errors[name] !== undefined);
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
function fieldControl(field: Field, { answers, errors }: FormState, look: { radios: boolean }): Html {
  const { name, label, required, choices } = field;
  const control: Control = { field, value: answers[name] ?? '', error: errors[name] };
  if (choices !== undefined && look.radios) return radioGroup(control);
  return html`<div class="field">
<label for="${name}">${label}${!required && html` <span class="optional">optional</span>`}</label>
${hintAndError(control)}
${choices === undefined ? textInput(control) : select(control, choices)}
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
function controlAttributes({ field: { name, hint, required, when }, error }: Control): Slot {
  const describedBy = [hint !== undefined && `${name}-hint`, error !== undefined && `${name}-error`].filter(Boolean);
  return [
    describedBy.length > 0 && html` aria-describedby="${describedBy.join(' ')}"`,
    error !== undefined && html` aria-invalid="true"`,
    required && when === undefined && html` required`,
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
${choices.map(([value, label]) => html`<option value="${String(value)}"${String(value) === control.value && html` selected`}>${label}</option>`)}
</select>`;
}

function radioGroup(control: Control): Html {
  const { name, label, choices = [], required } = control.field;
  // A fieldset does not support `required` and `aria-invalid`, so each of its buttons references the error.
  return html`<fieldset class="field choices">
<legend>${label}${!required && html` <span class="optional">optional</span>`}</legend>
${hintAndError(control)}
<div class="cards">${choices.map(
    ([value, text], place) => html`<label class="choice">
<input type="radio" id="${place === 0 ? name : `${name}-${place}`}" name="${name}" value="${String(value)}"${String(value) === control.value && html` checked`}${controlAttributes(control)}>
<span>${text}</span></label>`,
  )}</div>
</fieldset>`;
}

/** Renders variant A: one form with all fields, after an explanation. */
export function singleFormPage(state: FormState): Html {
  const { product, errors } = state;
  const { name, pitch, sections, segment } = product;
  const isFaulty = Object.keys(errors).length > 0;
  return layout({
    title: `${isFaulty ? 'Error: ' : ''}Compare ${name}`,
    product,
    main: html`<div class="split">
<div class="pitch">
<h1>${pitch.title}</h1>
<p class="lead">${pitch.text}</p>
<ul class="ticks">${pitch.benefits.map((benefit) => html`<li>${benefit}</li>`)}</ul>
</div>
<form class="card" method="post" action="/${segment}/answers" novalidate>
${errorSummary(state)}
${sections.map(
  ({ title, fields }) => html`<h2>${title}</h2>
${fields.map((field) => fieldControl(field, state, { radios: false }))}`,
)}
<button type="submit">See my offers</button>
<p class="small">This is no application, and nobody makes a decision about you yet.</p>
</form>
</div>`,
  });
}

/** Renders variant B: one question per page. */
export function questionPage(question: Question, state: FormState): Html {
  const { product, answers, errors } = state;
  const { questions, quizTitle, segment } = product;
  // Every visitor gets all questions except the optional one.
  const requiredQuestions = questions.filter(({ optional }) => optional !== true);
  const place = requiredQuestions.indexOf(question);
  const asked = askedFields(product, question, answers);
  const isFirst = question === questions[0];
  const before = questions[questions.indexOf(question) - 1];
  const isFaulty = Object.keys(errors).length > 0;
  // The label of a single field is the heading of the page, so that the question appears once.
  const alone = asked.length === 1;
  return layout({
    title: `${isFaulty ? 'Error: ' : ''}${isFirst ? quizTitle : question.title}`,
    product,
    width: 'narrow',
    main: html`${
      isFirst &&
      html`<h1>${quizTitle}</h1>
<p class="lead">${requiredQuestions.length} short questions. Comparing leaves your credit score alone.</p>`
    }
<form class="card quiz${alone && ' lone'}" method="post" action="/${segment}/answers" novalidate>
<input type="hidden" name="question" value="${question.id}">
<p class="step">${question.optional ? 'Almost there' : `Question ${place + 1} of ${requiredQuestions.length}`}</p>
<progress max="${requiredQuestions.length}" value="${question.optional ? requiredQuestions.length : place}" aria-label="Questions answered"></progress>
${!isFirst && html`<h1${alone && html` class="hidden"`}>${question.title}</h1>`}
${errorSummary(state)}
${fieldsOf(product)
  .filter(({ name }) => asked.includes(name))
  .map((field) => fieldControl(field, state, { radios: field.name !== 'state' }))}
<div class="buttons">
<button type="submit">${isFirst ? 'Start' : 'Continue'}</button>
${question.optional && html`<button type="submit" class="quiet" name="skip" value="yes">Skip this</button>`}
${before !== undefined && html`<a class="back" href="/${segment}/questions/${before.id}">Back</a>`}
</div>
</form>`,
  });
}
