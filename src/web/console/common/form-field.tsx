import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

/** Attributes that connect an input with its explanation and its error. */
export interface InputAttributes {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': boolean;
}

/** Input with a label, an explanation and, if its value is wrong, an error. */
export function FormField({
  label,
  note,
  error,
  children,
}: {
  readonly label: string;
  readonly note?: ComponentChildren;
  readonly error: string | undefined;
  readonly children: (attributes: InputAttributes) => ComponentChildren;
}) {
  const id = useId();
  const describedBy = note === undefined ? `${id}-error` : `${id}-note ${id}-error`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {note !== undefined && (
        <span class="note" id={`${id}-note`}>
          {note}
        </span>
      )}
      {children({ id, 'aria-describedby': describedBy, 'aria-invalid': error !== undefined })}
      <FieldError id={`${id}-error`} error={error} />
    </div>
  );
}

/** Group of choices with a title, an explanation and, if the choice is wrong, an error. */
export function FormGroup({
  title,
  note,
  error,
  children,
}: {
  readonly title: string;
  readonly note: ComponentChildren;
  readonly error: string | undefined;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  return (
    <fieldset class="field" aria-describedby={`${id}-note ${id}-error`}>
      <legend>{title}</legend>
      <span class="note" id={`${id}-note`}>
        {note}
      </span>
      {children}
      <FieldError id={`${id}-error`} error={error} />
    </fieldset>
  );
}

function FieldError({ id, error }: { readonly id: string; readonly error: string | undefined }) {
  return (
    <span id={id} class="field-error" role={error === undefined ? undefined : 'alert'}>
      {error}
    </span>
  );
}

/** One of several choices. */
export function Choice({
  name,
  checked,
  onChoose,
  title,
  note,
}: {
  readonly name: string;
  readonly checked: boolean;
  readonly onChoose: () => void;
  readonly title: string;
  readonly note: string;
}) {
  return (
    <label class="choice">
      <input type="radio" name={name} checked={checked} onChange={onChoose} />
      <span>
        <strong>{title}</strong>
        <span class="note">{note}</span>
      </span>
    </label>
  );
}
