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
 * Loads an answer of the API, and loads it again when the address changes. While the server cannot be reached, it is asked again from time to
 * time, and when the browser is online again.
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
  const isOffline = current?.failure?.kind === 'offline';
  useEffect(() => {
    if (!isOffline) return;
    const timer = setInterval(reload, retryDelayMs);
    addEventListener('online', reload);
    return () => {
      clearInterval(timer);
      removeEventListener('online', reload);
    };
  }, [isOffline, reload]);
  return {
    value: current?.value ?? null,
    failure: current?.failure ?? null,
    isLoading: path !== null && current === null,
    reload,
  };
}
