import { EmbedOriginError } from '../access/embed-origin-register.ts';
import { isKeyFileBusy, isKeyFileUnwritable } from '../access/key-file.ts';
import { bounds } from '../bounds.ts';
import { succeeded, invalidRequest, type Outcome, unavailable } from '../domain/outcome.ts';
import type { IsOperator } from '../faces/for-operator.ts';
import { keyRoutes } from '../faces/keys-face.ts';
import { originRoutes } from '../faces/origins-face.ts';
import type { Service, ServiceOptions } from './service.ts';
import { servedVerticals } from './verticals-of.ts';

/** The operator's doors to keys and origins. The log says what was changed through them, by the id of a key, never the key itself. */
export function createOperatorRoutes(
  options: ServiceOptions,
  isOperator: IsOperator,
  keys: Service['keys'],
  originLists: Service['embedOrigins'],
) {
  const { logger, clock } = options;
  return {
    keys: keyRoutes({
      isOperator,
      clock,
      verticals: servedVerticals(options),
      keys: {
        create: (wanted, nowMs) => {
          const created = toOutcome(() => keys.create(wanted, nowMs));
          if (created.ok) {
            const { id, accountName } = created.value.issued;
            logger.info({ key: id, account: accountName }, 'API key created by the operator');
          }
          return created;
        },
        find: (id) => keys.find(id),
        list: () => keys.list(),
        revoke: (id, nowMs) => {
          const revoked = toOutcome(() => keys.revoke(id, nowMs));
          if (revoked.ok && revoked.value === 'revoked') {
            logger.info({ key: id, account: keys.find(id)?.accountName }, 'API key revoked by the operator');
          }
          return revoked;
        },
      },
    }),
    origins: originRoutes({
      isOperator,
      embedOrigins: {
        allow: (account, origins) => {
          const allowed = toOutcome(() => originLists.allow(account, origins));
          const added = allowed.ok ? allowed.value.filter((outcome) => outcome === 'allowed') : [];
          if (added.length > 0)
            logger.info({ account, origins: added.length }, 'embedding origins allowed by the operator');
          return allowed;
        },
        list: (account) => toOutcome(() => originLists.list(account)),
        remove: (account, origins) => {
          const removed = toOutcome(() => originLists.remove(account, origins));
          const gone = removed.ok ? removed.value.filter((outcome) => outcome === 'removed') : [];
          if (gone.length > 0)
            logger.info({ account, origins: gone.length }, 'embedding origins removed by the operator');
          return removed;
        },
      },
    }),
  };
}

/** What keeps a change from being made, where the caller can do something about it. */
function toOutcome<Value>(change: () => Value): Outcome<Value> {
  try {
    return succeeded(change());
  } catch (fault) {
    if (isKeyFileBusy(fault) || isKeyFileUnwritable(fault)) return unavailable(bounds.retryAfterSeconds);
    if (fault instanceof EmbedOriginError) return invalidRequest(fault.argument);
    throw fault;
  }
}
