import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { type ApiFailure, callApi, onLoginExpired } from './api-client.ts';
import { timerMsMax } from './limits.ts';
import { type Login, LoginContext } from './login.ts';
import { type Credential, LoginPage } from './login-page.tsx';
import type { Route } from './route.ts';
import { useRoute } from './router.ts';
import { type Mark, type NavigationItem, Shell } from './shell.tsx';
import { ErrorBoundary, FailureNotice, Loading } from './states.tsx';
import { useRetry } from './use-api.ts';

/** What differs between the consoles. */
export interface ConsoleDefinition<OwnLogin extends Login> {
  /** Such as `Partner console`. */
  readonly title: string;
  readonly credential: Credential;
  /** Members without which a login cannot be shown. */
  readonly loginMembers: readonly (keyof OwnLogin & string)[];
  /** The same for every login, or those that a login may use. */
  readonly navigation: readonly NavigationItem[] | ((login: OwnLogin) => readonly NavigationItem[]);
  /** Who is logged in, such as the account and the vertical. */
  readonly describeLogin: (login: OwnLogin) => string;
  /** Short texts that must always be in view, such as `Test key`. The console adds the mark of a test clock. */
  readonly listMarks?: (login: OwnLogin) => readonly Mark[];
  readonly renderPage: (route: Route, login: OwnLogin) => ComponentChildren;
}

const testClockMark: Mark = {
  text: 'Test clock',
  explanation: 'The time of this server is not real, so its figures are not real',
};

type LoginState<OwnLogin> =
  | { readonly kind: 'checking' }
  | { readonly kind: 'failed'; readonly failure: ApiFailure }
  | { readonly kind: 'out'; readonly hasEnded: boolean }
  | { readonly kind: 'in'; readonly login: OwnLogin };

/** Root of a console: asks for a login, and shows the page of the current address. */
export function Console<OwnLogin extends Login>({ definition }: { readonly definition: ConsoleDefinition<OwnLogin> }) {
  const { title, credential, navigation, describeLogin, listMarks = () => [], renderPage } = definition;
  const route = useRoute();
  const { state, setState, check } = useLoginState(definition);
  const logOut = async () => {
    const result = await callApi('login', { method: 'DELETE' });
    if (result.ok || result.failure.kind === 'expired') setState({ kind: 'out', hasEnded: false });
    else setState({ kind: 'failed', failure: result.failure });
  };
  if (state.kind === 'out') {
    return <LoginPage title={title} credential={credential} hasEnded={state.hasEnded} onLogin={check} />;
  }
  if (state.kind !== 'in') {
    return (
      <Shell title={title}>
        {state.kind === 'failed' ? (
          <FailureNotice failure={state.failure} onRetry={check} />
        ) : (
          <Loading what="the console" />
        )}
      </Shell>
    );
  }
  const { login } = state;
  return (
    <LoginContext.Provider value={login}>
      <Shell
        title={title}
        navigation={typeof navigation === 'function' ? navigation(login) : navigation}
        route={route}
        loginText={describeLogin(login)}
        marks={login.test_clock ? [...listMarks(login), testClockMark] : listMarks(login)}
        serverTime={login.test_clock ? null : login.now}
        onLogOut={() => void logOut()}
      >
        <ErrorBoundary key={route.segments.join('/')}>{renderPage(route, login)}</ErrorBoundary>
      </Shell>
    </LoginContext.Provider>
  );
}

function useLoginState<OwnLogin extends Login>({ loginMembers }: ConsoleDefinition<OwnLogin>) {
  const [state, setState] = useState<LoginState<OwnLogin>>({ kind: 'checking' });
  const check = useCallback(async () => {
    const result = await callApi<OwnLogin>('login', { members: loginMembers });
    if (result.ok) setState({ kind: 'in', login: result.value });
    else if (result.failure.kind === 'expired') {
      setState((before) => (before.kind === 'in' || before.kind === 'out' ? before : { kind: 'out', hasEnded: false }));
    } else setState({ kind: 'failed', failure: result.failure });
  }, [loginMembers]);
  useEffect(() => void check(), [check]);
  const isIn = state.kind === 'in';
  useEffect(() => {
    return isIn ? onLoginExpired(() => setState({ kind: 'out', hasEnded: true })) : undefined;
  }, [isIn]);
  // At its end, the login is checked, so that the page does not show figures without a login. A test clock can be far from real time.
  const lifetimeMs = state.kind === 'in' ? Date.parse(state.login.login_expires_at) - Date.parse(state.login.now) : 0;
  useEffect(() => {
    if (!isIn) return;
    const timer = setTimeout(() => void callApi('login'), Math.min(Math.max(lifetimeMs, 0) + 1_000, timerMsMax));
    return () => clearTimeout(timer);
  }, [isIn, lifetimeMs]);
  const checkAgain = useCallback(() => void check(), [check]);
  useRetry(state.kind === 'failed' ? state.failure : null, checkAgain);
  return { state, setState, check: checkAgain };
}
