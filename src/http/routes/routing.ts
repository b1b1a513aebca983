import type { RequestContext, RequestHandler } from '../engines/listener.ts';
import { formatHeader, type HeaderText } from '../engines/response-head.ts';
import { errorReply } from './replies.ts';

/** Names of the public listener's routes in metrics. `other` is the name for requests that match no route. */
export const publicRouteNames = [
  'other',
  'session',
  'inputs',
  'marketplace',
  'analytics',
  'tags',
  'click',
  'sandbox_landing',
  'widget_page',
  'widget_script',
  'widget_offers',
  'widget_events',
  'logo',
  'reference',
] as const;

/** Route names of the public and the operations listener, for logs. `RequestContext.routeIndex` is an index in `allRouteNames`. */
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

/** HTTP methods that a path allows. A path that allows GET also allows HEAD, and every path allows OPTIONS. */
export interface AllowedMethods {
  readonly names: readonly string[];
  /** Value of the `Allow` header. */
  readonly list: string;
  readonly headers: HeaderText;
}

export function allowedMethods(...methods: readonly ('GET' | 'POST' | 'DELETE')[]): AllowedMethods {
  const names = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const list = [...names, 'OPTIONS'].join(', ');
  return { names, list, headers: formatHeader('Allow', list) };
}

export function checkMethod({ method }: RequestContext, allowed: AllowedMethods): 'handle' | 'options' | 'not_allowed' {
  if (allowed.names.includes(method)) return 'handle';
  return method === 'OPTIONS' ? 'options' : 'not_allowed';
}

/** Returns a handler that calls `handler` for the allowed methods, and replies 204 to OPTIONS and 405 to methods that are not allowed. */
export function restrictMethods(allowed: AllowedMethods, handler: RequestHandler): RequestHandler {
  return (context) => {
    const check = checkMethod(context, allowed);
    if (check === 'handle') return handler(context);
    if (check === 'options') context.reply({ status: 204, headers: allowed.headers, body: '' });
    else replyMethodNotAllowed(context, allowed);
  };
}

export function replyMethodNotAllowed(
  context: RequestContext,
  allowed: AllowedMethods,
  extraHeaders: HeaderText = '',
): void {
  context.reply(errorReply({ code: 'METHOD_NOT_ALLOWED' }, context.requestId, allowed.headers + extraHeaders));
}

const readMethods = allowedMethods('GET');

/** Returns a handler that calls `handler` for GET and HEAD, and replies 204 to OPTIONS and 405 to all remaining methods. */
export function allowOnlyGet(handler: RequestHandler): RequestHandler {
  return restrictMethods(readMethods, handler);
}
