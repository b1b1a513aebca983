import { EmbedOriginError } from '../access/embed-origin-register.ts';
import { isKeyFileBusy, isKeyFileUnwritable } from '../access/key-file.ts';
import { bounds } from '../bounds.ts';
import { done, invalidRequest, type Outcome, unavailable } from '../domain/outcome.ts';
import type { IsOperator } from '../faces/for-operator.ts';
import { keysFace } from '../faces/keys-face.ts';
import { originsFace } from '../faces/origins-face.ts';
import type { Service, ServiceOptions } from './service.ts';
import { verticalsOf } from './verticals-of.ts';

/** The operator's doors to keys and origins. The log says what was changed through them, by the id of a key, never the key itself. */
export function accessFaces(
  options: ServiceOptions,
  isOperator: IsOperator,
  keys: Service['keys'],
  originLists: Service['originLists'],
) {
  const { logger, clock } = options;
  return {
    keys: keysFace({
      isOperator,
      clock,
      verticals: verticalsOf(options),
      keys: {
        create: (wanted, nowMs) => {
          const created = outcomeOf(() => keys.create(wanted, nowMs));
          if (created.ok) {
            const { id, accountName } = created.value.issued;
            logger.info({ key: id, account: accountName }, 'API key created by the operator');
          }
          return created;
        },
        find: (id) => keys.find(id),
        list: () => keys.list(),
        revoke: (id, nowMs) => {
          const revoked = outcomeOf(() => keys.revoke(id, nowMs));
          if (revoked.ok && revoked.value === 'revoked') {
            logger.info({ key: id, account: keys.find(id)?.accountName }, 'API key revoked by the operator');
          }
          return revoked;
        },
      },
    }),
    origins: originsFace({
      isOperator,
      originLists: {
        allow: (account, origins) => {
          const allowed = outcomeOf(() => originLists.allow(account, origins));
          const added = allowed.ok ? allowed.value.filter((outcome) => outcome === 'allowed') : [];
          if (added.length > 0)
            logger.info({ account, origins: added.length }, 'embedding origins allowed by the operator');
          return allowed;
        },
        list: (account) => outcomeOf(() => originLists.list(account)),
        remove: (account, origins) => {
          const removed = outcomeOf(() => originLists.remove(account, origins));
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
function outcomeOf<Value>(change: () => Value): Outcome<Value> {
  try {
    return done(change());
  } catch (fault) {
    if (isKeyFileBusy(fault) || isKeyFileUnwritable(fault)) return unavailable(bounds.retryAfterSeconds);
    if (fault instanceof EmbedOriginError) return invalidRequest(fault.about);
    throw fault;
  }
}
