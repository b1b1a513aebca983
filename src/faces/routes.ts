/**
 * What requests are told apart by in the figures (`Exchange.route`): a route is its place in this list. The first is what no
 * face has claimed.
 */
export const routeNames = [
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

export type RouteName = (typeof routeNames)[number];

export function routeOf(name: RouteName): number {
  return routeNames.indexOf(name);
}
