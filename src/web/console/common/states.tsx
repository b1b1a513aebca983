import { Component, type ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApiFailure } from './api-client.ts';
import { unitSpace } from './format.ts';
import { loadingNoticeDelayMs } from './limits.ts';
import type { Loaded } from './use-api.ts';

/** Notice with a title, an advice and an action. */
export function Notice({
  kind,
  title,
  children,
}: {
  readonly kind: 'info' | 'good' | 'warn' | 'bad';
  readonly title?: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : undefined}>
      {title !== undefined && <p class="notice-title">{title}</p>}
      {children}
    </div>
  );
}

/** Placeholder of figures that are being loaded. It appears after a moment, so that fast answers do not flicker. */
export function Loading({ what }: { readonly what: string }) {
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setVisible(true), loadingNoticeDelayMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="loading" role="status">
      {isVisible && (
        <>
          <span>Loading {what}…</span>
          <span class="loading-bar" />
          <span class="loading-bar short" />
          <span class="loading-bar" />
        </>
      )}
    </div>
  );
}

/** State of a part without data, with a sentence that says how data gets there. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="notice-title">{title}</p>
      {children}
    </div>
  );
}

function RequestId({ id }: { readonly id: string | null }) {
  if (id === null) return null;
  return (
    <p class="soft">
      Request id: <code>{id}</code>. Give it to the operator of the service if you report the problem.
    </p>
  );
}

const refusalTitles: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Not found',
  429: 'Too many requests',
  503: 'The server is busy',
};

/** Advice at the end of an API message that is meant for programs, and not for a reader of the page. */
const adviceForPrograms = / Retry after the number of seconds in the Retry-After header\.$/;

/** Notice for a failed request. */
export function FailureNotice({ failure, onRetry }: { readonly failure: ApiFailure; readonly onRetry?: () => void }) {
  const retry = onRetry !== undefined && (
    <button type="button" class="quiet" onClick={onRetry}>
      Try again
    </button>
  );
  switch (failure.kind) {
    case 'offline':
      return (
        <Notice kind="warn" title="The server cannot be reached">
          <p>Check your connection. The server may also be restarting. This page tries again every few seconds.</p>
          {retry}
        </Notice>
      );
    case 'expired':
      return <Notice kind="warn" title="Your login has ended" />;
    case 'unexpected':
      return (
        <Notice kind="bad" title="This page does not understand the answer of the server">
          <p>The server may be newer than this page. Reload the page to get the current one.</p>
          <RequestId id={failure.requestId} />
          <button type="button" class="quiet" onClick={() => location.reload()}>
            Reload the page
          </button>
        </Notice>
      );
    default: {
      const { status, message, requestId, retryAfterSeconds } = failure;
      return (
        <Notice
          kind="bad"
          title={
            refusalTitles[status] ?? (status >= 500 ? 'The server has a problem' : 'The server refused the request')
          }
        >
          <p class="api-sentence">{message.replace(adviceForPrograms, '')}</p>
          {retryAfterSeconds !== null &&
            (onRetry === undefined ? (
              <p>
                You can try again in {retryAfterSeconds}
                {unitSpace}s.
              </p>
            ) : (
              <p>This page tries again by itself.</p>
            ))}
          <RequestId id={requestId} />
          {retry}
        </Notice>
      );
    }
  }
}

/**
 * Shows an answer of the API with `children`, or its state: loading or failed. If a later request fails, the earlier answer stays below the
 * notice.
 */
export function WhenLoaded<Value>({
  loaded,
  what,
  children,
}: {
  readonly loaded: Loaded<Value>;
  /** What is loaded, as in `Loading experiments…`. */
  readonly what: string;
  readonly children: (value: Value) => ComponentChildren;
}) {
  const { value, failure, reload } = loaded;
  return (
    <>
      {failure !== null && <FailureNotice failure={failure} onRetry={reload} />}
      {value !== null ? children(value) : failure === null && <Loading what={what} />}
    </>
  );
}

/** Shows a notice instead of children that cannot be shown, because an answer has another shape than expected. */
export class ErrorBoundary extends Component<
  { readonly children: ComponentChildren },
  { readonly hasFailed: boolean }
> {
  override state = { hasFailed: false };

  static override getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return <FailureNotice failure={{ kind: 'unexpected', requestId: null }} />;
  }
}
