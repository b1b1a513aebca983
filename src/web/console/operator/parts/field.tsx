import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { ApiFailure } from '../../common/api-client.ts';

/** Attributes that connect a control with its label, hint and error. */
export interface ControlAttributes {
  readonly id: string;
  readonly name: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
}

/** Control of a form with its label, a hint, and the error of the API for this member. */
export function Field({
  name,
  label,
  hint,
  failure,
  children,
}: {
  /** Name of the member in the request, which an error of the API names. */
  readonly name: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly failure: ApiFailure | null;
  readonly children: (attributes: ControlAttributes) => ComponentChildren;
}) {
  const id = useId();
  const error = failure?.kind === 'refused' && failure.param === name ? failure.message : null;
  const described = [hint !== undefined && `${id}-hint`, error !== null && `${id}-error`].filter((each) => each);
  const attributes = {
    id,
    name,
    'aria-describedby': described.length > 0 ? described.join(' ') : undefined,
    'aria-invalid': error !== null,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p class="soft" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children(attributes)}
      {error !== null && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

/** Whether a failure belongs to one of these fields, which then show it. */
export function isFieldFailure(failure: ApiFailure | null, names: readonly string[]): boolean {
  return failure?.kind === 'refused' && failure.param !== null && names.includes(failure.param);
}

/** Group of radio buttons with a caption. */
export function Choices<Value extends string>({
  name,
  legend,
  choices,
  value,
  onChoose,
}: {
  readonly name: string;
  readonly legend: string;
  readonly choices: readonly { readonly value: Value; readonly label: string; readonly hint: string }[];
  readonly value: Value;
  readonly onChoose: (value: Value) => void;
}) {
  return (
    <fieldset class="field">
      <legend>{legend}</legend>
      {choices.map((choice) => (
        <label key={choice.value} class="choice">
          <input
            type="radio"
            name={name}
            value={choice.value}
            checked={choice.value === value}
            onChange={() => onChoose(choice.value)}
          />
          <span>
            {choice.label}
            <span class="note">{choice.hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
