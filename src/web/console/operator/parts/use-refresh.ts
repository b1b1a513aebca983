import { useEffect } from 'preact/hooks';

/** Calls `reload` from time to time while the page is visible. */
export function useRefresh(reload: () => void, intervalMs: number): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload();
    }, intervalMs);
    return () => clearInterval(timer);
  }, [reload, intervalMs]);
}
