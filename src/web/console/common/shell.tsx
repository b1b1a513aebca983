import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { formatUtcTime } from './format.ts';
import { clockDifferenceMaxMs } from './limits.ts';
import { formatRoute, type Route } from './route.ts';
import { Notice } from './states.tsx';
import { chooseTheme, type Theme, useTheme } from './theme.ts';

/** Entry of the navigation. */
export interface NavigationItem {
  readonly label: string;
  /** First part of the addresses of the pages of this entry; empty for the first page. */
  readonly segment: string;
}

/** Short text that must always be in view, such as `Test key`. */
export interface Mark {
  readonly text: string;
  readonly explanation: string;
}

interface ShellProps {
  readonly title: string;
  readonly navigation?: readonly NavigationItem[];
  readonly route?: Route;
  readonly loginText?: string;
  readonly marks?: readonly Mark[];
  /** Time of the server at login; null if it is that of a test clock. */
  readonly serverTime?: string | null;
  readonly onLogOut?: () => void;
  readonly children: ComponentChildren;
}

/** Frame of every page: skip link, navigation, login, marks and theme. */
export function Shell({
  title,
  navigation = [],
  route,
  loginText,
  marks = [],
  serverTime = null,
  onLogOut,
  children,
}: ShellProps) {
  const main = useRef<HTMLElement>(null);
  const page = route?.segments.join('/');
  useFocusOnNewPage(main, page);
  return (
    <>
      {/* A button, because a link would replace the part of the address that names the page. */}
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <p class="brand">{title}</p>
        {navigation.length > 0 && <Navigation items={navigation} current={route?.segments[0] ?? ''} />}
        <div class="top-end">
          {marks.map(({ text, explanation }) => (
            <span key={text} class="mark" title={explanation}>
              {text}
              <span class="visually-hidden">. {explanation}</span>
            </span>
          ))}
          {loginText !== undefined && <span class="login-text">{loginText}</span>}
          <ThemeSwitch />
          {onLogOut !== undefined && (
            <button type="button" class="small quiet" onClick={onLogOut}>
              Log out
            </button>
          )}
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <ClockNotice serverTime={serverTime} />
        {children}
      </main>
    </>
  );
}

function Navigation({ items, current }: { readonly items: readonly NavigationItem[]; readonly current: string }) {
  return (
    <nav aria-label="Pages">
      <ul class="menu">
        {items.map(({ label, segment }) => (
          <li key={segment}>
            <a
              href={formatRoute(segment === '' ? [] : [segment])}
              aria-current={segment === current ? 'page' : undefined}
            >
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function ThemeSwitch() {
  const { theme } = useTheme();
  return (
    <label class="theme">
      <span class="visually-hidden">Theme</span>
      <select value={theme} onChange={({ currentTarget }) => chooseTheme(currentTarget.value as Theme)}>
        <option value="system">System theme</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}

/** Warns if the clock of the browser is wrong. Figures do not depend on it. */
function ClockNotice({ serverTime }: { readonly serverTime: string | null }) {
  const noticed = useRef<{ readonly serverTime: string; readonly differenceMs: number }>(null);
  if (serverTime !== null && noticed.current?.serverTime !== serverTime) {
    noticed.current = { serverTime, differenceMs: Date.now() - Date.parse(serverTime) };
  }
  const { differenceMs = 0 } = (serverTime !== null && noticed.current) || {};
  if (Math.abs(differenceMs) <= clockDifferenceMaxMs) return null;
  return (
    <Notice kind="warn" title="The clock of this computer is wrong">
      <p>
        The clock was {Math.round(Math.abs(differenceMs) / 60_000).toLocaleString('en-US')} minutes{' '}
        {differenceMs > 0 ? 'ahead of' : 'behind'} the clock of the server, {formatUtcTime(serverTime)}. This console
        shows the dates of the server. Set the clock of this computer, because a wrong clock can break logins.
      </p>
    </Notice>
  );
}

/** Moves the focus to the heading of a new page, so that screen readers and keyboards start there, and scrolls to the top. */
function useFocusOnNewPage(main: { readonly current: HTMLElement | null }, page: string | undefined): void {
  const earlier = useRef(page);
  useEffect(() => {
    if (earlier.current === page) return;
    earlier.current = page;
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [main, page]);
}

/** Heading of a page. Also sets the title of the browser window. */
export function PageHeading({
  children,
  title,
  lead,
}: {
  /** Heading, if it is more than the title. */
  readonly children?: ComponentChildren;
  readonly title: string;
  readonly lead?: ComponentChildren;
}) {
  useEffect(() => {
    document.title = `${title} · Marketplace console`;
  }, [title]);
  return (
    <div class="page-heading">
      <h1>{children ?? title}</h1>
      {lead !== undefined && <p class="lead">{lead}</p>}
    </div>
  );
}
