import type { ComponentChildren } from 'preact';
import type { ApiFailure } from '../../common/api-client.ts';
import { Choice, FormField, type InputAttributes } from '../../common/form-field.tsx';

/** Control of a form with its label, a note, and the error of the API for this member. */
export function Field({
  name,
  label,
  note,
  failure,
  children,
}: {
  /** Name of the member in the request, which an error of the API names. */
  readonly name: string;
  readonly label: string;
  readonly note?: string;
  readonly failure: ApiFailure | null;
  readonly children: (attributes: InputAttributes & { readonly name: string }) => ComponentChildren;
}) {
  const error = failure?.kind === 'refused' && failure.param === name ? failure.message : undefined;
  return (
    <FormField label={label} note={note} error={error}>
      {(attributes) => children({ ...attributes, name })}
    </FormField>
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
  readonly choices: readonly { readonly value: Value; readonly label: string; readonly note: string }[];
  readonly value: Value;
  readonly onChoose: (value: Value) => void;
}) {
  return (
    <fieldset class="field">
      <legend>{legend}</legend>
      {choices.map((choice) => (
        <Choice
          key={choice.value}
          name={name}
          checked={choice.value === value}
          onChoose={() => onChoose(choice.value)}
          title={choice.label}
          note={choice.note}
        />
      ))}
    </fieldset>
  );
}
