/** One load of the widget. The server counts at most one view of a load. */
export interface WidgetLoad {
  /** 16 random lower-case hex digits. */
  readonly id: string;
  /** Number of events that the widget has reported. Event IDs contain the number of the event. */
  eventCount: number;
  /** Whether the page has shown the result of the load. */
  isRendered: boolean;
}

/** Loads of widgets that ended before they showed a result, by session. The page has one such map for all copies of the script. */
const unusedLoadsKey = Symbol.for('svc-offers-unused-loads');
const page = window as { [unusedLoadsKey]?: Map<string, WidgetLoad> };

/**
 * Starts a load. If an earlier widget of the session ended before it showed offers, the new widget continues the load of this widget.
 * The server may have counted its view, and a page that mounts, unmounts and mounts a widget shows offers only once.
 *
 * @param ended aborted when the widget ends
 */
export function startWidgetLoad(sub: string, ended: AbortSignal): WidgetLoad {
  page[unusedLoadsKey] ??= new Map();
  const unusedLoads = page[unusedLoadsKey];
  const load = unusedLoads.get(sub) ?? {
    id: crypto.getRandomValues(new BigUint64Array(1))[0]!.toString(16).padStart(16, '0'),
    eventCount: 0,
    isRendered: false,
  };
  unusedLoads.delete(sub);
  ended.addEventListener('abort', () => {
    if (!load.isRendered) unusedLoads.set(sub, load);
  });
  return load;
}
