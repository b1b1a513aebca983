import { EmbedOriginError } from '../auth/embed-origin-registry.ts';
import { isKeyFileBusy, isKeyFileUnwritable } from '../auth/key-file.ts';
import { bounds } from '../bounds.ts';
import { invalidRequest, type Outcome, serviceUnavailable, succeeded } from '../domain/outcome.ts';
import type { Handler } from '../http/engines/listener.ts';
import { adminRoutes, createHostCheck, type OperatorCheck } from '../http/routes/admin-routes.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type Service, type ServiceOptions, servedVerticals } from './service.ts';

interface AdminHandlerDeps extends Pick<Service, 'confirmRevenue' | 'keys' | 'embedOrigins' | 'notReadyReasons'> {
  readonly isOperator: OperatorCheck;
  /** Host names that the operations listener accepts besides `localhost` and IP addresses. */
  readonly hostNames: readonly string[];
  readonly metrics: Metrics;
}

/** Creates the handler of the operations listener. Log lines about changed keys and origins never contain the text of a key. */
export function createAdminHandler(
  options: ServiceOptions,
  { isOperator, hostNames, metrics, notReadyReasons, confirmRevenue, keys, embedOrigins }: AdminHandlerDeps,
): Handler {
  const { logger, clock } = options;
  return adminRoutes({
    isKnownHost: createHostCheck(hostNames),
    notReadyReasons,
    metrics,
    isOperator,
    clock,
    verticals: servedVerticals(options),
    confirm: confirmRevenue,
    keys: {
      createKey: (request, nowMs) => {
        const created = toOutcome(() => keys.create(request, nowMs));
        if (created.ok) {
          const { id, accountName } = created.value.issued;
          logger.info({ keyId: id, account: accountName }, 'API key created through the operations API');
        }
        return created;
      },
      findKey: (id) => keys.find(id),
      listKeys: () => keys.list(),
      revokeKey: (id, nowMs) => {
        const revoked = toOutcome(() => keys.revoke(id, nowMs));
        if (revoked.ok && revoked.value === 'revoked') {
          const account = keys.find(id)?.accountName;
          logger.info({ keyId: id, account }, 'API key revoked through the operations API');
        }
        return revoked;
      },
    },
    embedOrigins: {
      allowOrigins: (account, origins) => {
        const outcome = toOutcome(() => embedOrigins.allow(account, origins));
        const count = countResults(outcome, 'allowed');
        if (count > 0) logger.info({ account, origins: count }, 'embedding origins allowed through the operations API');
        return outcome;
      },
      listOrigins: (account) => toOutcome(() => embedOrigins.list(account)),
      removeOrigins: (account, origins) => {
        const outcome = toOutcome(() => embedOrigins.remove(account, origins));
        const count = countResults(outcome, 'removed');
        if (count > 0) logger.info({ account, origins: count }, 'embedding origins removed through the operations API');
        return outcome;
      },
    },
  });
}

/** Counts the origins with this result, for the log. */
function countResults(outcome: Outcome<readonly string[]>, result: string): number {
  return outcome.ok ? outcome.value.filter((each) => each === result).length : 0;
}

/** Converts errors that the caller can correct into an `Outcome`, and rethrows all other errors. */
function toOutcome<Value>(change: () => Value): Outcome<Value> {
  try {
    return succeeded(change());
  } catch (error) {
    if (isKeyFileBusy(error) || isKeyFileUnwritable(error)) return serviceUnavailable(bounds.retryAfterSeconds);
    if (error instanceof EmbedOriginError) return invalidRequest(error.argument);
    throw error;
  }
}
