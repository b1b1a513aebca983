import { useId } from 'preact/hooks';
import type { TagsResponse } from '../common/api-types.ts';
import type { InputAttributes } from '../common/form-field.tsx';
import { tagSuggestionsMax } from '../common/limits.ts';
import { type PartnerLogin, useLogin } from '../common/login.ts';
import { changeQuery } from '../common/router.ts';
import { type Loaded, useApi } from '../common/use-api.ts';
import { dayChoices, findBusiestTag, type SessionFilter } from './day-filter.ts';
import { partnerPath } from './partner-path.ts';

/** Loads the first tags of the account, from which the user chooses. */
export function useTags(): Loaded<TagsResponse> {
  const login = useLogin<PartnerLogin>();
  return useApi<TagsResponse>(partnerPath(login, ['tags'], { limit: tagSuggestionsMax }), ['data', 'has_more']);
}

/** Returns the filter with a tag: by default the tag with the most sessions. */
export function withDefaultTag(filter: SessionFilter, tags: TagsResponse | null): SessionFilter {
  return filter.tag === '' && tags !== null ? { ...filter, tag: findBusiestTag(tags.data) } : filter;
}

/** A change of the filter starts again with the first page. */
const changeFilter = (changes: Readonly<Record<string, string | null>>) =>
  changeQuery({ cursor: null, page: null, ...changes });

/** Form that chooses the sessions of a page. Each change is a new address. */
export function SessionFilterForm({ filter, tags }: { readonly filter: SessionFilter; readonly tags: TagsResponse }) {
  const { tag, days, from, to } = filter;
  const tagId = useId();
  const onDaysChange = (choice: string) =>
    choice === 'own' ? changeFilter({ days: null, from, to }) : changeFilter({ days: choice, from: null, to: null });
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <div>
        <label for={tagId}>Page (tag)</label>
        <TagInput
          attributes={{ id: tagId }}
          tag={tag}
          tags={tags}
          onChange={(changed) => changeFilter({ tag: changed })}
        />
      </div>
      <label>
        Sessions of
        <select
          value={days === null ? 'own' : String(days)}
          onChange={({ currentTarget }) => onDaysChange(currentTarget.value)}
        >
          {dayChoices.map((choice) => (
            <option key={choice} value={String(choice)}>
              {choice === 1 ? 'today (UTC)' : `the last ${choice} days`}
            </option>
          ))}
          <option value="own">other days</option>
        </select>
      </label>
      {days === null && (
        <>
          <DayInput label="First day (UTC)" day={from} onChange={(day) => changeFilter({ from: day })} />
          <DayInput label="Last day (UTC)" day={to} onChange={(day) => changeFilter({ to: day })} />
        </>
      )}
    </form>
  );
}

/** List of the tags; a text field if there are more tags than the list shows. */
export function TagInput({
  tag,
  tags: { data, has_more: hasMore },
  attributes,
  onChange,
}: {
  readonly attributes: Partial<InputAttributes>;
  readonly tag: string;
  readonly tags: TagsResponse;
  readonly onChange: (tag: string) => void;
}) {
  const names = data.map(({ referrer_tag }) => referrer_tag);
  if (!hasMore && (tag === '' || names.includes(tag))) {
    return (
      <select {...attributes} value={tag} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    );
  }
  return (
    <>
      <input
        {...attributes}
        type="text"
        list="known-tags"
        value={tag}
        autocomplete="off"
        spellcheck={false}
        onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
      />
      <datalist id="known-tags">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

function DayInput({
  label,
  day,
  onChange,
}: {
  readonly label: string;
  readonly day: string;
  readonly onChange: (day: string) => void;
}) {
  return (
    <label>
      {label}
      <input type="date" value={day} onChange={({ currentTarget }) => onChange(currentTarget.value)} />
    </label>
  );
}
