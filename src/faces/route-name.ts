import { clickPath, sandboxLandingPath } from './click-face.ts';
import { confirmationsPath } from './confirmations-face.ts';
import { logoPathHead } from './logo-face.ts';
import { widgetPath } from './widget-face.ts';

const names: Readonly<Record<string, string>> = {
  [clickPath]: 'click',
  [sandboxLandingPath]: 'sandbox_landing',
  [widgetPath]: 'widget_page',
  [`${widgetPath}/`]: 'widget_page',
  [`${widgetPath}/widget.js`]: 'widget_script',
  [`${widgetPath}/offers`]: 'widget_offers',
  [`${widgetPath}/events`]: 'widget_events',
  [confirmationsPath]: 'confirmations',
  '/healthz': 'healthz',
  '/readyz': 'readyz',
  '/metrics': 'metrics',
};
const operations = /^\/v1\/[a-z0-9-]{1,64}\/(session|inputs|marketplace|analytics)$/;

/** What logs call the address of a request: a path as sent may hold anything, a name of this list does not. */
export function routeName(path: string): string {
  if (Object.hasOwn(names, path)) return names[path] as string;
  if (path.startsWith(logoPathHead)) return 'logo';
  return operations.exec(path)?.[1] ?? 'none';
}
