import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiFailure, callApi } from './api-client.ts';
import { retryDelayMs } from './limits.ts';

/** An answer of the API that a page shows, while it is loaded and afterwards. */
export interface Loaded<Value> {
  /** The latest answer for the current address; null before the first one. */
  readonly value: Value | null;
  /** Why the latest request failed; null after an answer. */
  readonly failure: ApiFailure | null;
  readonly isLoading: boolean;
  /** Requests the answer again. */
  readonly reload: () => void;
}

/**
 * Sends a failed request again: when the server is likely to be reachable again, or after the time that the server has asked for.
 *
 * @param failure latest failure of the request; null after an answer
 */
export function useRetry(failure: ApiFailure | null, retry: () => void): void {
  useEffect(() => {
    const waitMs = failure === null ? null : retryAfterMs(failure);
    if (waitMs === null) return;
    const timer = setTimeout(retry, waitMs);
    addEventListener('online', retry);
    return () => {
      clearTimeout(timer);
      removeEventListener('online', retry);
    };
  }, [failure, retry]);
}

/** Returns the time in milliseconds after which a failed request is sent again; null if a repetition would fail, too. */
function retryAfterMs(failure: ApiFailure): number | null {
  if (failure.kind === 'offline') return retryDelayMs;
  return failure.kind === 'refused' && failure.retryAfterSeconds !== null
    ? Math.max(retryDelayMs, failure.retryAfterSeconds * 1_000)
    : null;
}

/**
 * Loads an answer of the API, and loads it again when the address changes, and after a failure that may be over soon.
 *
 * @param path from `apiPath`; null to load nothing
 * @param members members without which the page cannot show the answer
 */
export function useApi<Value>(path: string | null, members: readonly string[] = []): Loaded<Value> {
  const [answer, setAnswer] = useState<{ path: string; value: Value | null; failure: ApiFailure | null } | null>(null);
  const [attempt, setAttempt] = useState(0);
  const neededMembers = useRef(members);
  const reload = useCallback(() => setAttempt((count) => count + 1), []);
  useEffect(() => {
    if (path === null) return;
    const ended = new AbortController();
    void callApi<Value>(path, { signal: ended.signal, members: neededMembers.current }).then((result) => {
      if (ended.signal.aborted) return;
      setAnswer((before) => {
        if (result.ok) return { path, value: result.value, failure: null };
        return { path, value: before?.path === path ? before.value : null, failure: result.failure };
      });
    });
    return () => ended.abort();
  }, [path, attempt]);
  const current = answer?.path === path ? answer : null;
  useRetry(current?.failure ?? null, reload);
  return {
    value: current?.value ?? null,
    failure: current?.failure ?? null,
    isLoading: path !== null && current === null,
    reload,
  };
}
