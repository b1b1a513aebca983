/** What requests of the public listener are told apart by in the figures. The first is what no face has claimed. */
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

/** The same of both listeners, for logs: a route (`Exchange.route`) is its place in this list. */
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
