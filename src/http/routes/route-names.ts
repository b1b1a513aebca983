/** Route names of the public listener in metrics. `other` is the name for requests that no route handled. */
export const publicRouteNames = [
  'other',
  'session',
  'inputs',
  'marketplace',
  'analytics',
  'click',
  'sandbox_landing',
  'widget_page',
  'widget_script',
  'widget_offers',
  'widget_events',
  'logo',
  'reference',
] as const;

/** Route names of both listeners in logs. `RequestContext.routeIndex` is an index in this list. */
export const allRouteNames = [
  ...publicRouteNames,
  'healthz',
  'readyz',
  'metrics',
  'confirmations',
  'keys',
  'origins',
] as const;

export type RouteName = (typeof allRouteNames)[number];

export function routeIndexOf(name: RouteName): number {
  return allRouteNames.indexOf(name);
}
