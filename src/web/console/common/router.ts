import { useEffect, useState } from 'preact/hooks';
import { formatRoute, parseRoute, type Route } from './route.ts';

/** Returns the current place in the console. The component renders again when the address changes, also by back and forward. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const update = () => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return route;
}

/**
 * Changes parameters of the current page, such as a filter. A null removes a parameter. The change is a step of the history, so that `back`
 * returns to the earlier filter.
 */
export function changeQuery(changes: Readonly<Record<string, string | null>>): void {
  const { segments, query } = parseRoute(location.hash);
  location.hash = formatRoute(segments, { ...query, ...changes });
}
