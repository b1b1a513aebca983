import { type ApiKey, getTenantOfKey, hashApiKey, parseBearerKey } from '../../auth/api-key.ts';
import { bounds } from '../../bounds.ts';
import type { Clock } from '../../domain/clock.ts';
import { parseQueryParameters } from '../../domain/query-string.ts';
import type { Vertical } from '../../domain/vertical.ts';
import type { ClickIds } from '../../ids/click-tokens.ts';
import { encodeVerticalAndMode, readAccount, readVerticalAndModeKey } from '../../ids/sub-id.ts';
import { parseTenantCode, type TenantNumbers } from '../../ids/tenant-code.ts';
import { clickPath } from '../../operations/click-url.ts';
import { type FindSessionDeps, parseSubIdAndFindSession } from '../../sessions/find-session.ts';
import type { OwnedRequest } from '../../shards/forward-client.ts';
import type { RequestContext } from '../engines/listener.ts';
import { sandboxLandingPath } from './click-routes.ts';
import { readConsoleCookie } from './console/console-cookie.ts';
import { consolePath } from './console/console-page.ts';
import { parseJsonBody } from './request-parsing.ts';
import { widgetPath } from './widget-routes.ts';

interface RequestOwnersDeps extends Pick<FindSessionDeps, 'sessions' | 'subIds'> {
  readonly clock: Clock;
  /** Finds a key by the result of `hashApiKey`. */
  readonly findKeyByHash: (hash: string) => ApiKey | undefined;
  readonly verticals: readonly Vertical[];
  readonly clickIds: Pick<ClickIds, 'verify'>;
  /** Whether a path belongs to an API operation. */
  readonly isApiPath: (path: string) => boolean;
}

const loginPath = `${consolePath}/api/login`;
/** Paths that use a session. The script of the widget is the same for all sessions. */
const sessionRoutes: ReadonlyMap<string, 'click' | 'widget'> = new Map([
  [clickPath, 'click'],
  [widgetPath, 'widget'],
  [`${widgetPath}/`, 'widget'],
  [`${widgetPath}/offers`, 'widget'],
  [`${widgetPath}/events`, 'widget'],
]);

/**
 * Finds the tenant that a request of the public listener belongs to, so that the shard of the tenant decides it. Only a valid API key, a valid
 * sub_id or the cookie of a login names a tenant. All other requests get the same answer from every shard.
 */
export class RequestOwners {
  readonly #deps: RequestOwnersDeps;

  constructor(deps: RequestOwnersDeps) {
    this.#deps = deps;
  }

  /** Whether a request is a login at the partner console, whose tenant is in the body. */
  isLogin({ method, path }: RequestContext): boolean {
    return path === loginPath && method === 'POST';
  }

  /** Returns the tenant of a request; null if the request belongs to no tenant. */
  findOwner(context: RequestContext): OwnedRequest | null {
    const { path } = context;
    const route = sessionRoutes.get(path);
    if (route !== undefined) return this.#findOwnerOfSession(context.query, route);
    if (path === sandboxLandingPath) return this.#findOwnerOfClick(context.query);
    if (path.startsWith(`${consolePath}/api/`)) return findOwnerOfLogin(context);
    if (!this.#deps.isApiPath(path)) return null;
    const keyText = parseBearerKey(context.getRequestHeader('authorization'));
    return keyText === null ? null : this.#findOwnerOfKey(keyText, 'api');
  }

  /** Returns the tenant of the API key in the body of a login request; null if there is no valid key. */
  findOwnerOfNewLogin(body: Buffer): OwnedRequest | null {
    const parsed = parseJsonBody(true, body);
    const key = parsed.ok ? Object(parsed.value).key : undefined;
    const keyText = typeof key === 'string' ? parseBearerKey(`Bearer ${key.trim()}`) : null;
    return keyText === null ? null : this.#findOwnerOfKey(keyText, 'console');
  }

  #findOwnerOfKey(keyText: string, route: 'api' | 'console'): OwnedRequest | null {
    const { clock, findKeyByHash, verticals } = this.#deps;
    const key = findKeyByHash(hashApiKey(keyText));
    if (key === undefined || clock.wallMs() >= key.expiresAtMs) return null;
    return { route, ...getTenantOfKey(key, verticals) };
  }

  #findOwnerOfSession(query: string, route: 'click' | 'widget'): OwnedRequest | null {
    // The handlers reject a repeated or badly encoded `sub`, too.
    const parsed = parseQueryParameters(query, ['sub']);
    const found = parsed.ok ? parseSubIdAndFindSession(this.#deps, parsed.values.sub ?? '') : null;
    if (found === null) return null;
    if (found.session === null) {
      const { account, vertical, mode } = found.parts;
      return { route, account, verticalAndMode: encodeVerticalAndMode(vertical, mode) };
    }
    const { account, vertical, mode } = found.session.tenant;
    return { route, account, verticalAndMode: encodeVerticalAndMode(vertical.number, mode) };
  }

  /** The landing page of sandbox clicks shows a value that depends on the session. */
  #findOwnerOfClick(query: string): OwnedRequest | null {
    const parsed = parseQueryParameters(query, ['click_id']);
    const click = parsed.ok ? this.#deps.clickIds.verify(parsed.values.click_id ?? '') : null;
    return (
      click && {
        route: 'click',
        account: readAccount(click.sub),
        verticalAndMode: readVerticalAndModeKey(click.sub),
      }
    );
  }
}

/** Number of characters of a cookie without a tenant code, as earlier releases issued it. Their logins are on shard 0. */
const tokenCharacters = Math.ceil((8 * bounds.consoleTokenBytes) / 6);
const tenantOfFirstShard: TenantNumbers = { account: 0, verticalAndMode: 0 };

/** Returns the tenant in the cookie of a login. A forged tenant leads to a shard that does not know the login. */
function findOwnerOfLogin(context: RequestContext): OwnedRequest | null {
  const token = readConsoleCookie(context, 'partner');
  if (token === null) return null;
  const tenant = token.length === tokenCharacters ? tenantOfFirstShard : parseTenantCode(token);
  return tenant && { route: 'console', ...tenant };
}
