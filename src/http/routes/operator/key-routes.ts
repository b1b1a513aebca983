import type { Logger } from 'pino';
import type { AuditActor } from '../../../audit/audit-log.ts';
import type { AuditTrail } from '../../../audit/audit-trail.ts';
import type { IssuedKey } from '../../../auth/api-key.ts';
import type { Authenticator, KeyUsageReport } from '../../../auth/authenticator.ts';
import { type KeyRegistry, type KeyVertical, parseNewKey, toIssuedKeyJson } from '../../../auth/key-registry.ts';
import { type KeyLimits, toLimitsJson } from '../../../auth/rate-limits.ts';
import { bounds } from '../../../bounds.ts';
import { formatIsoTimestamp, formatIsoTimestampOrNull } from '../../../domain/calendar.ts';
import type { Clock } from '../../../domain/clock.ts';
import {
  failureOutcomeWithCode,
  invalidRequest,
  type Outcome,
  type SuccessValue,
  successOutcome,
} from '../../../domain/outcome.ts';
import type { OperatorRoute } from './operator-route.ts';
import { cursorRule, limitNeededRule, parsePageQuery, toPageJson } from './page-query.ts';
import { tryKeyFile } from './try-key-file.ts';

export interface KeyRoutesDeps {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly audit: Pick<AuditTrail, 'recorderOf'>;
  readonly verticals: readonly KeyVertical[];
  readonly keys: Pick<KeyRegistry, 'create' | 'find' | 'listPage' | 'revokeKey'>;
  readonly authenticator: Pick<Authenticator, 'getKeyUsage' | 'usesKnownSinceMs'>;
}

/**
 * Returns the routes that manage API keys. `GET /keys` lists keys, `POST /keys` creates a key, `GET /keys/{id}` shows a key and
 * `DELETE /keys/{id}` revokes a key. Only the response to `POST /keys` contains the text of the key. Responses never contain the hash of a
 * key. Log lines never contain the text or the hash of a key.
 */
export function keyRoutes(deps: KeyRoutesDeps): readonly OperatorRoute[] {
  const { keys, clock, verticals, logger, authenticator, audit } = deps;
  const toJson = (key: IssuedKey) => toKeyView(key, authenticator.getKeyUsage(key), clock.wallMs());
  const show = (keyId: string): Outcome<KeyView> => {
    const key = keys.find(keyId);
    return key === undefined ? failureOutcomeWithCode('NOT_FOUND') : successOutcome(toJson(key));
  };
  const create = (body: unknown, actor: AuditActor): Outcome<CreatedKey> => {
    const nowMs = clock.wallMs();
    const newKey = parseNewKey(body, verticals, nowMs);
    if (!newKey.ok) return newKey;
    return tryKeyFile(() => {
      const { key, issued } = keys.create(newKey.value, nowMs, audit.recorderOf(actor));
      const { id, accountName } = issued;
      logger.info({ keyId: id, account: accountName }, 'API key created through the operations API');
      return { key, ...toJson(issued) };
    });
  };
  const revoke = (keyId: string, actor: AuditActor): Outcome<KeyView> => {
    const revoked = tryKeyFile(() => keys.revokeKey(keyId, clock.wallMs(), audit.recorderOf(actor)));
    if (!revoked.ok) return revoked;
    if (revoked.value === 'revoked') {
      const account = keys.find(keyId)?.accountName;
      logger.info({ keyId, account }, 'API key revoked through the operations API');
    }
    return show(keyId);
  };
  return [
    {
      path: '/keys',
      name: 'keys',
      GET: ({ query }) => listKeys(deps, query, toJson),
      POST: (body, _text, { actor }) => create(body, actor),
      postStatus: 201,
    },
    {
      path: '/keys/{id}',
      name: 'keys',
      GET: ({ segments: [keyId = ''] }) => show(keyId),
      DELETE: ({ segments: [keyId = ''], actor }) => revoke(keyId, actor),
    },
  ];
}

/** Page of keys. */
export type KeysPage = Exclude<SuccessValue<ReturnType<typeof listKeys>>, readonly KeyView[]>;

/**
 * Lists keys: a page, or an array of all keys for a query without `limit` and `cursor`. There is no array of very many keys, because
 * reading and formatting them would block all other requests.
 */
function listKeys({ keys, authenticator }: KeyRoutesDeps, query: string, toJson: (key: IssuedKey) => KeyView) {
  const page = parsePageQuery(query, ['account']);
  if (!page.ok) return page;
  const { account, cursor } = page.values;
  const isPage = page.limit !== undefined || cursor !== undefined;
  const limit = page.limit ?? (isPage ? bounds.operatorPageItemsMax : bounds.unpagedItemsMax);
  const found = keys.listPage(account, cursor, limit + 1);
  if (found === 'cursor') return invalidRequest('cursor', cursorRule);
  if (found === 'account') return invalidRequest('account');
  if (!isPage) {
    return found.length > limit ? invalidRequest('limit', limitNeededRule('keys')) : successOutcome(found.map(toJson));
  }
  return successOutcome({
    ...toPageJson(found, limit, ({ id }) => id, toJson),
    uses_known_since: formatIsoTimestamp(authenticator.usesKnownSinceMs),
  });
}

/** Key in an answer. A limit is null if the default of the service applies. */
export type KeyView = ReturnType<typeof toKeyView>;

/** Answer to `POST /keys`, with the text of the key. */
export type CreatedKey = KeyView & { readonly key: string };

function toKeyView(key: IssuedKey, { limits, used, lastUsedMs }: KeyUsageReport, nowMs: number) {
  const toUsage = (name: keyof KeyLimits) => ({ limit: limits[name], used: used[name] });
  return {
    ...toIssuedKeyJson(key, nowMs),
    usage: toLimitsJson({
      requestsPerMinute: toUsage('requestsPerMinute'),
      analyticsPerMinute: toUsage('analyticsPerMinute'),
      sessionsPerDay: toUsage('sessionsPerDay'),
    }),
    last_used_at: formatIsoTimestampOrNull(lastUsedMs),
  };
}
