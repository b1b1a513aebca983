import type { Logger } from 'pino';
import type { IssuedKey } from '../../../auth/api-key.ts';
import { type KeyRegistry, type KeyVertical, parseNewKey, toIssuedKeyJson } from '../../../auth/key-registry.ts';
import type { Clock } from '../../../domain/clock.ts';
import { failureOutcomeWithCode, type Outcome, successOutcome } from '../../../domain/outcome.ts';
import type { OperatorRoute } from './operator-route.ts';
import { tryKeyFile } from './try-key-file.ts';

export interface KeyRoutesDeps {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly verticals: readonly KeyVertical[];
  readonly keys: Pick<KeyRegistry, 'create' | 'find' | 'listKeys' | 'revokeKey'>;
}

/**
 * Returns the routes that manage API keys. `GET /keys` lists all keys, `POST /keys` creates a key, `GET /keys/{id}` shows a key and
 * `DELETE /keys/{id}` revokes a key. Only the response to `POST /keys` contains the text of the key. Responses never contain the hash of a
 * key. Log lines never contain the text or the hash of a key.
 */
export function keyRoutes({ keys, clock, verticals, logger }: KeyRoutesDeps): readonly OperatorRoute[] {
  const toJson = (key: IssuedKey) => toIssuedKeyJson(key, clock.wallMs());
  const show = (keyId: string): Outcome<object> => {
    const key = keys.find(keyId);
    return key === undefined ? failureOutcomeWithCode('NOT_FOUND') : successOutcome(toJson(key));
  };
  const create = (body: unknown): Outcome<object> => {
    const nowMs = clock.wallMs();
    const newKey = parseNewKey(body, verticals, nowMs);
    if (!newKey.ok) return newKey;
    return tryKeyFile(() => {
      const { key, issued } = keys.create(newKey.value, nowMs);
      const { id, accountName } = issued;
      logger.info({ keyId: id, account: accountName }, 'API key created through the operations API');
      return { key, ...toJson(issued) };
    });
  };
  const revoke = (keyId: string): Outcome<object> => {
    const revoked = tryKeyFile(() => keys.revokeKey(keyId, clock.wallMs()));
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
      GET: () => successOutcome(keys.listKeys().map(toJson)),
      POST: create,
      postStatus: 201,
    },
    {
      path: '/keys/{id}',
      name: 'keys',
      GET: ({ segments: [keyId = ''] }) => show(keyId),
      DELETE: ({ segments: [keyId = ''] }) => revoke(keyId),
    },
  ];
}
