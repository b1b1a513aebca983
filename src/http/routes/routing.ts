import type { ApiOperation } from '../../operations/api-operation.ts';
import { apiOperations } from '../../operations/api-operations.ts';
import type { RequestContext, RequestHandler } from '../engines/listener.ts';
import { formatHeader, type HeaderText } from '../engines/response-head.ts';
import { errorReply } from './replies.ts';

const otherPublicRouteNames = [
  'click',
  'sandbox_landing',
  'widget_page',
  'widget_script',
  'widget_offers',
  'widget_events',
  'logo',
  'reference',
  'console',
  'forwarded',
] as const;
const operationsRouteNames = [
  'audit',
  'healthz',
  'readyz',
  'metrics',
  'status',
  'confirmations',
  'keys',
  'catalogs',
  'origins',
  'test-clock',
] as const;

/** Names of the public listener's routes in metrics. `other` is the name for requests that match no route. */
export const publicRouteNames: readonly string[] = [
  ...new Set(['other', ...apiOperations.map(apiRouteName), ...otherPublicRouteNames]),
];

/** Route names of the public and the operations listener, for logs. `RequestContext.routeIndex` is an index in `allRouteNames`. */
export const allRouteNames: readonly string[] = [...publicRouteNames, ...operationsRouteNames];

/** Index of the route of requests that this shard forwards to another one. The other shard counts them under their own routes. */
export const forwardedRouteIndex = allRouteNames.indexOf('forwarded');

export type OperationsRouteName = (typeof operationsRouteNames)[number];

/** Handler that gets more than the request, such as the segments of the path. */
type HandlerWith<More extends readonly unknown[]> = (
  context: RequestContext,
  ...more: More
) => ReturnType<RequestHandler>;

/** Returns a handler that sets the route of the request, for metrics and logs, and then calls `handler`. */
export function withRoute<More extends readonly unknown[]>(
  name: (typeof otherPublicRouteNames)[number] | OperationsRouteName,
  handler: HandlerWith<More>,
): HandlerWith<More> {
  const routeIndex = allRouteNames.indexOf(name);
  return (context, ...more) => {
    context.routeIndex = routeIndex;
    return handler(context, ...more);
  };
}

/** Returns the index of the route of an API operation, or that of `other` for an operation that is not registered. */
export function apiRouteIndexOf(operation: Pick<ApiOperation, 'path'>): number {
  return Math.max(0, allRouteNames.indexOf(apiRouteName(operation)));
}

/** Returns the route name of an operation: the first segment of its path. */
function apiRouteName({ path }: Pick<ApiOperation, 'path'>): string {
  return path.split('/')[1]!;
}

/** HTTP methods that a path allows. A path that allows GET also allows HEAD, and every path allows OPTIONS. */
export interface AllowedMethods {
  readonly names: readonly string[];
  /** Value of the `Allow` header. */
  readonly list: string;
  readonly headers: HeaderText;
}

export function allowedMethods(...methods: readonly ApiOperation['method'][]): AllowedMethods {
  const names = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const list = [...names, 'OPTIONS'].join(', ');
  return { names, list, headers: formatHeader('Allow', list) };
}

export function checkMethod({ method }: RequestContext, allowed: AllowedMethods): 'handle' | 'options' | 'not_allowed' {
  if (allowed.names.includes(method)) return 'handle';
  return method === 'OPTIONS' ? 'options' : 'not_allowed';
}

/** Returns a handler that calls `handler` for the allowed methods, and replies 204 to OPTIONS and 405 to methods that are not allowed. */
export function restrictMethods<More extends readonly unknown[]>(
  allowed: AllowedMethods,
  handler: HandlerWith<More>,
): HandlerWith<More> {
  return (context, ...more) => {
    const check = checkMethod(context, allowed);
    if (check === 'handle') return handler(context, ...more);
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

export function replyNotFound(context: RequestContext): void {
  context.reply(errorReply({ code: 'NOT_FOUND' }, context.requestId));
}

const readMethods = allowedMethods('GET');

/** Returns a handler that calls `handler` for GET and HEAD, and replies 204 to OPTIONS and 405 to all remaining methods. */
export function allowOnlyGet(handler: RequestHandler): RequestHandler {
  return restrictMethods(readMethods, handler);
}

interface PathMatch<Value> {
  readonly value: Value;
  /** Texts of the segments in braces, not decoded. */
  readonly segments: readonly string[];
}

/** Values by path. A path can have segments in braces, such as `/tags/{name}`, which match every segment that is not empty. */
export class PathTable<Value> {
  readonly #matches = new Map<string, PathMatch<Value>>();
  readonly #patterns: (readonly [pattern: RegExp, value: Value])[] = [];

  set(path: string, value: Value): void {
    if (path.includes('{')) this.#patterns.push([new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`), value]);
    else this.#matches.set(path, { value, segments: [] });
  }

  find(path: string): PathMatch<Value> | undefined {
    const match = this.#matches.get(path);
    if (match !== undefined) return match;
    for (const [pattern, value] of this.#patterns) {
      const [, ...segments] = pattern.exec(path) ?? [];
      if (segments.length > 0) return { value, segments };
    }
    return undefined;
  }
}
