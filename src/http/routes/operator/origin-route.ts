import type { Logger } from 'pino';
import type { AuditTrail } from '../../../audit/audit-trail.ts';
import type { EmbedOriginRegistry } from '../../../auth/embed-origin-registry.ts';
import { type AllowedOrigin, validateWebOrigin } from '../../../auth/web-origin.ts';
import { bounds } from '../../../bounds.ts';
import { invalidRequest, type Outcome, successOutcome } from '../../../domain/outcome.ts';
import { parseQueryParameters } from '../../../domain/query-string.ts';
import type { OperatorRoute } from './operator-route.ts';
import { cursorRule, limitNeededRule, parsePageQuery, toPageJson } from './page-query.ts';
import { tryKeyFile } from './try-key-file.ts';

const originParameters = ['account', 'origin'] as const;

export interface OriginRouteDeps {
  readonly logger: Logger;
  readonly audit: Pick<AuditTrail, 'recorderOf'>;
  readonly embedOrigins: Pick<EmbedOriginRegistry, 'allowOrigins' | 'listPage' | 'removeOrigins'>;
}

/**
 * Returns the route that manages the web origins that may embed the widgets of an account. `GET /origins` lists the origins of all
 * accounts, or of the account in `?account=`. `POST /origins` allows origins, and `DELETE /origins?account=&origin=` removes an origin.
 */
export function originRoute({ audit, embedOrigins, logger }: OriginRouteDeps): OperatorRoute {
  return {
    path: '/origins',
    name: 'origins',
    GET: ({ query }) => listOrigins(embedOrigins, query),
    POST(body, _text, { actor }) {
      const { account, origins } = (body ?? {}) as Readonly<Record<string, unknown>>;
      if (typeof account !== 'string') return invalidRequest('account');
      if (!Array.isArray(origins) || origins.length > bounds.embedOriginsPerAccountMax || !origins.every(isOrigin)) {
        return invalidRequest('origins');
      }
      return tryKeyFile(() => {
        const outcomes = embedOrigins.allowOrigins(account, origins, audit.recorderOf(actor));
        const count = outcomes.filter((outcome) => outcome === 'allowed').length;
        if (count > 0) logger.info({ account, origins: count }, 'embedding origins allowed through the operations API');
        return outcomes.map((outcome, index) => ({ origin: origins[index], outcome }));
      });
    },
    DELETE(request) {
      const query = parseQueryParameters(request.query, originParameters);
      if (!query.ok) return query;
      const { account, origin } = query.values;
      if (account === undefined) return invalidRequest('account');
      if (!isOrigin(origin)) return invalidRequest('origin');
      return tryKeyFile(() => {
        const [outcome] = embedOrigins.removeOrigins(account, [origin], audit.recorderOf(request.actor));
        if (outcome === 'removed') {
          logger.info({ account, origins: 1 }, 'embedding origins removed through the operations API');
        }
        return [{ origin, outcome }];
      });
    },
  };
}

/** Lists origins: a page, or an array of all origins for a query without `limit` and `cursor`, as for `GET /keys`. */
function listOrigins(embedOrigins: OriginRouteDeps['embedOrigins'], query: string): Outcome<object> {
  const page = parsePageQuery(query, ['account']);
  if (!page.ok) return page;
  const { account, cursor } = page.values;
  const after = cursor === undefined ? undefined : parseCursor(cursor);
  if (after === null) return invalidRequest('cursor', cursorRule);
  const isPage = page.limit !== undefined || after !== undefined;
  const limit = page.limit ?? (isPage ? bounds.operatorPageItemsMax : bounds.unpagedItemsMax);
  const found = tryKeyFile(() => embedOrigins.listPage(account, after, limit + 1));
  if (!found.ok) return found;
  if (isPage) return successOutcome(toPageJson(found.value, limit, toCursor, toJson));
  return found.value.length > limit
    ? invalidRequest('limit', limitNeededRule('origins'))
    : successOutcome(found.value.map(toJson));
}

/** Allowed origin in an answer of `GET /origins`. */
export type OriginView = ReturnType<typeof toJson>;

const toJson = ({ accountName, origin }: AllowedOrigin) => ({ account: accountName, origin });
const toCursor = ({ account, origin }: AllowedOrigin) => `${account} ${origin}`;

/** Parses a cursor: the number of the account and the origin. Returns null if the cursor is invalid. */
function parseCursor(cursor: string): Pick<AllowedOrigin, 'account' | 'origin'> | null {
  const [, account, origin] = /^(\d{1,15}) (\S+)$/.exec(cursor) ?? [];
  return isOrigin(origin) ? { account: Number(account), origin } : null;
}

function isOrigin(value: unknown): value is string {
  return typeof value === 'string' && validateWebOrigin(value) === null;
}
