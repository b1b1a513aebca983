import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiFailure, callApi } from '../../common/api-client.ts';
import { CopyButton } from '../../common/copy-button.tsx';
import { useLogin } from '../../common/login.ts';
import { formatRoute, type Route } from '../../common/route.ts';
import { copyText, downloadFile } from '../../common/save.ts';
import { PageHeading } from '../../common/shell.tsx';
import { FailureNotice, Notice } from '../../common/states.tsx';
import type { CreatedKey } from '../api-types.ts';
import { limits } from '../limits.ts';
import type { OperatorLogin } from '../operator-login.ts';
import { Choices, Field, isFieldFailure } from '../parts/field.tsx';

const memberNames = [
  'account',
  'vertical',
  'expires',
  'requests_per_minute',
  'analytics_per_minute',
  'sessions_per_day',
];

const limitFields = [
  ['requests_per_minute', 'Requests per minute'],
  ['analytics_per_minute', 'Analytics queries per minute'],
  ['sessions_per_day', 'Sessions per UTC day'],
] as const;

/** Page with the form for a new API key. The new key is shown once. */
export function NewKeyPage({ route }: { readonly route: Route }) {
  const [created, setCreated] = useState<CreatedKey | null>(null);
  return (
    <>
      <PageHeading title="Create an API key" />
      {created === null ? (
        <NewKeyForm account={route.query.account ?? ''} onCreated={setCreated} />
      ) : (
        <NewKey created={created} onNext={() => setCreated(null)} />
      )}
      <p>
        <a href={formatRoute(['keys'])}>All API keys</a>
      </p>
    </>
  );
}

function NewKeyForm({
  account,
  onCreated,
}: {
  readonly account: string;
  readonly onCreated: (key: CreatedKey) => void;
}) {
  const { verticals } = useLogin<OperatorLogin>();
  const [mode, setMode] = useState<'live' | 'test'>('test');
  const [scope, setScope] = useState<'full' | 'analytics'>('full');
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isSending, setSending] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [failure]);
  const create = async (event: Event) => {
    event.preventDefault();
    if (isSending) return;
    setSending(true);
    const body = { ...readMembers(form.current!), mode, scope };
    const result = await callApi<CreatedKey>('keys', { method: 'POST', body, members: ['key', 'id'] });
    setSending(false);
    if (result.ok) onCreated(result.value);
    else setFailure(result.failure);
  };
  return (
    <form class="card form" ref={form} onSubmit={(event) => void create(event)} noValidate>
      {failure !== null && !isFieldFailure(failure, memberNames) && <FailureNotice failure={failure} />}
      <Field
        name="account"
        label="Account"
        note="Name of the partner. A new name creates an account."
        failure={failure}
      >
        {(attributes) => (
          <input {...attributes} defaultValue={account} maxLength={limits.accountCharactersMax} autocomplete="off" />
        )}
      </Field>
      <Field name="vertical" label="Vertical" failure={failure}>
        {(attributes) => (
          <select {...attributes}>
            {verticals.map((vertical) => (
              <option key={vertical}>{vertical}</option>
            ))}
          </select>
        )}
      </Field>
      <Choices
        name="mode"
        legend="Mode"
        value={mode}
        onChoose={setMode}
        choices={[
          { value: 'test', label: 'Test', note: 'Sandbox offers; clicks earn nothing.' },
          { value: 'live', label: 'Live', note: 'Only for the traffic of real visitors.' },
        ]}
      />
      <Choices
        name="scope"
        legend="Scope"
        value={scope}
        onChoose={setScope}
        choices={[
          { value: 'full', label: 'Full', note: 'For the partner’s web server.' },
          { value: 'analytics', label: 'Read-only', note: 'For analysts: can only read figures.' },
        ]}
      />
      <Field
        name="expires"
        label="Expires (optional)"
        note="The key works until the end of this UTC day."
        failure={failure}
      >
        {(attributes) => <input {...attributes} type="date" />}
      </Field>
      {limitFields.map(([name, label]) => (
        <Field key={name} name={name} label={`${label} (optional)`} failure={failure}>
          {(attributes) => (
            <input {...attributes} type="number" min={1} placeholder="default limit" inputMode="numeric" />
          )}
        </Field>
      ))}
      <p>
        <button type="submit">{isSending ? 'Creating…' : 'Create the key'}</button>
      </p>
    </form>
  );
}

/** Returns the members of the request. Empty optional fields are left out. */
function readMembers(form: HTMLFormElement): Record<string, string | number> {
  const fields = new FormData(form);
  const members: Record<string, string | number> = {};
  for (const name of memberNames) {
    const text = String(fields.get(name) ?? '').trim();
    if (text === '' && name !== 'account') continue;
    members[name] = limitFields.some(([limit]) => limit === name) ? Number(text) : text;
  }
  return members;
}

function NewKey({ created, onNext }: { readonly created: CreatedKey; readonly onNext: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const { key, id, account, vertical, mode } = created;
  return (
    <Notice kind="good" title="The key was created">
      <p>
        <a href={formatRoute(['keys', id])}>{id}</a>: {mode} key of the account <strong>{account}</strong> for{' '}
        {vertical}.
      </p>
      <label for="new-key">Copy the key now. It is never shown again, because the service stores only its hash.</label>
      <div class="inline-form secret">
        <input id="new-key" ref={field} class="code" readOnly value={key} />
        <CopyButton
          label="Copy the key"
          subject={id}
          copy={() => copyText(key)}
          download={() => downloadFile(`${id}.txt`, new Blob([key, '\n'], { type: 'text/plain' }))}
        />
      </div>
      <button type="button" class="quiet" onClick={onNext}>
        Create another key
      </button>
    </Notice>
  );
}
