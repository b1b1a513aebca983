import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiFailure, callApi } from './api-client.ts';
import { credentialCharactersMax } from './limits.ts';
import { Shell } from './shell.tsx';
import { FailureNotice, Notice } from './states.tsx';

/** What a user logs in with. */
export interface Credential {
  /** Member of the request. */
  readonly member: 'key' | 'token';
  /** Label of the field, such as `API key`. */
  readonly label: string;
  /** Where the user finds it, and what happens to it. */
  readonly hint: string;
}

/** Login form. The key or token is sent once and is not stored in the browser. */
export function LoginPage({
  title,
  credential,
  hasEnded,
  onLogin,
}: {
  readonly title: string;
  readonly credential: Credential;
  /** Whether an earlier login has ended. */
  readonly hasEnded: boolean;
  readonly onLogin: () => void;
}) {
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isEmpty, setEmpty] = useState(false);
  const [isSending, setSending] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const logIn = async (event: Event) => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? '';
    setEmpty(text === '');
    if (text === '' || isSending) {
      field.current?.focus();
      return;
    }
    setSending(true);
    const result = await callApi('login', { method: 'POST', body: { [credential.member]: text } });
    setSending(false);
    if (result.ok) {
      onLogin();
      return;
    }
    setFailure(result.failure);
    field.current?.select();
  };
  return (
    <Shell title={title}>
      <form class="card login" onSubmit={(event) => void logIn(event)} noValidate>
        <h1>Log in</h1>
        {hasEnded && (
          <Notice kind="warn" title="Your login has ended">
            <p>Log in again to continue on the same page.</p>
          </Notice>
        )}
        {failure !== null && <FailureNotice failure={failure} />}
        <label for="credential">{credential.label}</label>
        <p class="soft" id="credential-hint">
          {credential.hint}
        </p>
        <input
          id="credential"
          ref={field}
          type="password"
          autocomplete="off"
          spellcheck={false}
          maxLength={credentialCharactersMax}
          aria-describedby={isEmpty ? 'credential-hint credential-error' : 'credential-hint'}
          aria-invalid={isEmpty}
        />
        {isEmpty && (
          <p class="field-error" id="credential-error">
            Enter the {credential.label}.
          </p>
        )}
        <button type="submit">{isSending ? 'Logging in…' : 'Log in'}</button>
      </form>
    </Shell>
  );
}
