import type { Answers } from '../experiment/visit.ts';
import type { FieldErrors } from '../form/field-errors.ts';
import { type Field, fields } from '../form/fields.ts';
import { type Html, html, type Slot } from '../web/html.ts';

/** A form as the visitor left it. */
export interface FormState {
  readonly answers: Answers;
  readonly errors: FieldErrors;
  /** Something about the whole form, such as why it could not be sent. */
  readonly notice: string | null;
}

/** What is wrong, above the form: the first thing that is read out, with links to each field. */
export function errorSummary({ errors, notice }: FormState): Slot {
  const faulty = [...fields.values()].filter(({ name }) => errors[name] !== undefined);
  if (faulty.length === 0 && notice === null) return null;
  // The focus goes there when the page opens, without a script.
  return html`<div class="problems" role="alert" tabindex="-1" autofocus>
${notice !== null && html`<p>${notice}</p>`}
${
  faulty.length > 0 &&
  html`<p>Please look at ${faulty.length === 1 ? 'one answer' : `${faulty.length} answers`} again:</p>
<ul>${faulty.map(({ name, label }) => html`<li><a href="#${name}">${label}</a> ${errors[name]}</li>`)}</ul>`
}
</div>`;
}

/** One question with its label, hint and error, all tied to the control. `radios` shows the choices at once. */
export function fieldControl(name: string, { answers, errors }: FormState, look: { radios: boolean }): Html {
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

/** Attributes that tell a screen reader what stands around the control. */
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
  // A group takes no `required` and no `aria-invalid`, so the error is tied to each of its buttons.
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
