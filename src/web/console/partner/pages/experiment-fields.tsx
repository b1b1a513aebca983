import type { TagsResponse } from '../../common/api-types.ts';
import { Choice, FormField, FormGroup } from '../../common/form-field.tsx';
import { armsMax, armsMin, hypothesisCharactersMax, labelCharactersMax } from '../../common/limits.ts';
import { addArm, type ExperimentForm, type FormErrors, removeArm } from '../experiment-form.ts';
import { TagInput } from '../session-filter.tsx';

interface FieldsProps {
  readonly form: ExperimentForm;
  readonly errors: FormErrors;
  readonly onChange: (form: ExperimentForm) => void;
}

type TextMember = {
  [Name in keyof ExperimentForm]: string extends ExperimentForm[Name] ? Name : never;
}[keyof ExperimentForm];

function TextField({
  member,
  label,
  note,
  type = 'text',
  width,
  props: { form, errors, onChange },
}: {
  readonly member: TextMember;
  readonly label: string;
  readonly note: string;
  readonly type?: 'text' | 'date';
  readonly width?: 'short';
  readonly props: FieldsProps;
}) {
  return (
    <FormField label={label} note={note} error={errors[member]}>
      {(attributes) => {
        const input = {
          ...attributes,
          class: type === 'date' ? 'short' : width,
          value: form[member],
          onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
            onChange({ ...form, [member]: currentTarget.value }),
        };
        return type === 'date' ? (
          <input {...input} type="date" />
        ) : (
          <input {...input} type="text" autocomplete="off" spellcheck={false} />
        );
      }}
    </FormField>
  );
}

/** Fields for the name and the pages. */
export function PageFields(props: FieldsProps) {
  const { form, errors, onChange } = props;
  return (
    <section class="card section form">
      <h2>Pages</h2>
      <TextField
        props={props}
        member="name"
        label="Name of the experiment"
        note="Lower-case letters, digits, hyphens and underscores, such as form-length. It cannot change later."
      />
      <FormGroup
        title="Pages to compare"
        note="Each page has its own referrer tag, which your web server sends when it creates a session. Use new tags. The first page is the control: the page that you have today. Two pages with equal shares need the fewest days."
        error={[errors.arms, errors.shares].filter((error) => error !== undefined).join(' ') || undefined}
      >
        <ol class="arms">
          {form.arms.map((_, index) => (
            <ArmFields key={index} index={index} form={form} onChange={onChange} />
          ))}
        </ol>
        {form.arms.length < armsMax && (
          <button type="button" class="small quiet" onClick={() => onChange(addArm(form))}>
            Add a page
          </button>
        )}
      </FormGroup>
    </section>
  );
}

function ArmFields({
  index,
  form,
  onChange,
}: {
  readonly index: number;
  readonly form: ExperimentForm;
  readonly onChange: (form: ExperimentForm) => void;
}) {
  const arm = form.arms[index]!;
  const change = (changes: Partial<typeof arm>) =>
    onChange({ ...form, arms: form.arms.map((each, at) => (at === index ? { ...each, ...changes } : each)) });
  const title = index === 0 ? 'Page 1, control' : `Page ${index + 1}`;
  return (
    <li class="arm">
      <div class="heading-row">
        <strong>{title}</strong>
        {index > 0 && form.arms.length > armsMin && (
          <button type="button" class="small quiet" onClick={() => onChange(removeArm(form, index))}>
            Remove<span class="visually-hidden"> page {index + 1}</span>
          </button>
        )}
      </div>
      <div class="arm-inputs">
        <label>
          Tag
          <input
            type="text"
            value={arm.tag}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => change({ tag: currentTarget.value })}
          />
        </label>
        <label>
          Label in sentences
          <input
            type="text"
            value={arm.label}
            maxLength={labelCharactersMax}
            placeholder={arm.tag}
            autocomplete="off"
            onInput={({ currentTarget }) => change({ label: currentTarget.value })}
          />
        </label>
        <label>
          Share in %
          <input
            type="text"
            inputMode="decimal"
            value={arm.share}
            autocomplete="off"
            onInput={({ currentTarget }) => change({ share: currentTarget.value })}
          />
        </label>
      </div>
    </li>
  );
}

/** Fields for the unit that is assigned to a page, and for the rule that assigns it. */
export function AssignmentFields({ form, errors, onChange }: FieldsProps) {
  return (
    <section class="card section form">
      <h2>Who sees which page</h2>
      <FormGroup
        title="What is assigned to a page"
        note="Choose what your web server does. The results are valid only if this is true."
        error={errors.unit}
      >
        <Choice
          name="unit"
          checked={form.unit === 'visitor'}
          onChoose={() => onChange({ ...form, unit: 'visitor' })}
          title="Each visitor"
          note="A visitor who comes back sees the same page. Your web server sends your own id of the visitor as unit_id with each session."
        />
        <Choice
          name="unit"
          checked={form.unit === 'session'}
          onChoose={() => onChange({ ...form, unit: 'session' })}
          title="Each session"
          note="Your web server chooses a page at random for each page load. A visitor who comes back can see another page."
        />
      </FormGroup>
      {form.unit === 'visitor' && (
        <FormGroup
          title="Who assigns a visitor"
          note="Your web server shows the page that this rule assigns."
          error={errors.assignment}
        >
          <Choice
            name="assignment"
            checked={form.assignment === 'hash'}
            onChoose={() => onChange({ ...form, assignment: 'hash' })}
            title="The service, by a hash"
            note="The page follows from the name of the experiment and the id of the visitor. You get the code for it."
          />
          <Choice
            name="assignment"
            checked={form.assignment === 'own'}
            onChoose={() => onChange({ ...form, assignment: 'own' })}
            title="Your own rule"
            note="Your web server or your testing tool assigns a page to a visitor, and always shows this page to the visitor."
          />
        </FormGroup>
      )}
    </section>
  );
}

/** Fields for the days, the smallest difference, and rarely used settings. */
export function RuleFields(props: FieldsProps & { readonly basedOn: string; readonly tags: TagsResponse }) {
  const { form, errors, onChange, basedOn, tags } = props;
  return (
    <section class="card section form">
      <h2>Days and difference</h2>
      <TextField
        props={props}
        member="startsOn"
        type="date"
        label="First day (UTC)"
        note="First day of the sessions that count: today or later."
      />
      <TextField
        props={props}
        member="endsOn"
        type="date"
        label="Last day (UTC), optional"
        note="With a last day, the experiment has a planned day: the revenue is then complete, and the last comparison is made. Such an experiment finds smaller differences. Without a last day, the experiment continues until a difference is found."
      />
      <TextField
        props={props}
        member="minEffectPercent"
        width="short"
        label="Smallest difference that matters, in %, optional"
        note="The smallest difference in revenue per session that would change what you do. With it, the results say how long the experiment still takes, and can find that pages earn the same."
      />
      <FormField
        label="Estimate from this page"
        note="The estimate assumes that the pages of the experiment have the traffic and the revenue of this page. It is not part of the experiment."
        error={errors.basedOn}
      >
        {(attributes) => (
          <TagInput
            attributes={attributes}
            tag={basedOn}
            tags={tags}
            onChange={(tag) => onChange({ ...form, basedOn: tag })}
          />
        )}
      </FormField>
      <TextField
        props={props}
        member="sessionsPerDay"
        width="short"
        label="Sessions per day, optional"
        note="Expected sessions of all pages together on each day, for the estimate only. By default, the sessions of the page above in the last 28 days."
      />
      <details class="part">
        <summary>More settings: cap, dimensions, hypothesis</summary>
        <div class="form">
          <TextField
            props={props}
            member="capUsd"
            width="short"
            label="Cap in USD, optional"
            note="Largest revenue of a session that counts. With a cap, a single very large payout cannot decide the experiment."
          />
          <TextField
            props={props}
            member="dimensions"
            label="Dimensions, optional"
            note="Up to three names of session metadata, separated by commas, by which the results can be broken down."
          />
          <FormField
            label="Hypothesis, optional"
            note="What you expect and why, in your own words. It has no effect on the results."
            error={errors.hypothesis}
          >
            {(attributes) => (
              <textarea
                {...attributes}
                rows={3}
                maxLength={hypothesisCharactersMax}
                value={form.hypothesis}
                onInput={({ currentTarget }) => onChange({ ...form, hypothesis: currentTarget.value })}
              />
            )}
          </FormField>
        </div>
      </details>
    </section>
  );
}
