import type { NewKey } from '../../auth/api-key.ts';
import type { AllowedOrigin, AllowResult, RemoveResult } from '../../auth/embed-origin-registry.ts';
import { type KeyVertical, parseKeyRequest, toIssuedKeyJson } from '../../auth/key-json.ts';
import type { IssuedKey, RevokeResult } from '../../auth/key-registry.ts';
import { validateWebOrigin } from '../../auth/web-origin.ts';
import { bounds } from '../../bounds.ts';
import type { Clock } from '../../domain/clock.ts';
import { failedWith, invalidRequest, type Outcome, succeeded } from '../../domain/outcome.ts';
import { parseQueryParameters } from '../../domain/query-string.ts';
import type { Handler, RequestContext } from '../engines/listener.ts';
import { type IsOperator, operatorOnly, replyToJsonBody, sendOutcome } from './operator-access.ts';

export const keysPath = '/keys';

interface KeyAdmin {
  create(newKey: NewKey, nowMs: number): Outcome<{ readonly key: string; readonly issued: IssuedKey }>;
  find(id: string): IssuedKey | undefined;
  list(): readonly IssuedKey[];
  revoke(id: string, nowMs: number): Outcome<RevokeResult>;
}

interface KeyRoutesDeps {
  readonly isOperator: IsOperator;
  readonly keys: KeyAdmin;
  readonly clock: Clock;
  /** The verticals of this service. */
  readonly verticals: readonly KeyVertical[];
}

/**
 * Creates the handler of API keys. `GET /keys` lists all keys, `POST /keys` creates a key, `GET /keys/<id>` shows a key and
 * `DELETE /keys/<id>` revokes it. Only the response to POST contains the key itself. No response contains the hash of a key.
 */
export function keyRoutes({ isOperator, keys, clock, verticals }: KeyRoutesDeps): Handler {
  const toJson = (key: IssuedKey) => toIssuedKeyJson(key, clock.wallMs());
  const all = operatorOnly(isOperator, {
    GET: (context) => sendOutcome(context, succeeded(keys.list().map(toJson))),
    POST: (context) => {
      const issue = (body: unknown): Outcome<object> => {
        const nowMs = clock.wallMs();
        const newKey = parseKeyRequest(body, verticals, nowMs);
        if (!newKey.ok) return newKey;
        const created = keys.create(newKey.value, nowMs);
        return created.ok ? succeeded({ key: created.value.key, ...toJson(created.value.issued) }) : created;
      };
      replyToJsonBody(context, issue, 201);
    },
  });
  const one = operatorOnly(isOperator, {
    GET: (context) => sendOutcome(context, find(context.path)),
    DELETE: (context) => {
      const revoked = keys.revoke(keyIdOf(context.path), clock.wallMs());
      sendOutcome(context, revoked.ok ? find(context.path) : revoked);
    },
  });
  const find = (path: string): Outcome<object> => {
    const key = keys.find(keyIdOf(path));
    return key === undefined ? failedWith('NOT_FOUND') : succeeded(toJson(key));
  };
  return (context) => (context.path === keysPath ? all(context) : one(context));
}

function keyIdOf(path: string): string {
  return path.slice(keysPath.length + 1);
}

export const originsPath = '/origins';

interface EmbedOriginAdmin {
  allow(account: string, origins: readonly string[]): Outcome<readonly AllowResult[]>;
  list(account?: string): Outcome<readonly AllowedOrigin[]>;
  remove(account: string, origins: readonly string[]): Outcome<readonly RemoveResult[]>;
}

interface OriginRoutesDeps {
  readonly isOperator: IsOperator;
  readonly embedOrigins: EmbedOriginAdmin;
}

const originParameters = ['account', 'origin'] as const;

/**
 * Creates the handler of the web origins that may embed the widgets of an account. `GET /origins` lists the origins of all accounts, or
 * of the account in `?account=`. `POST /origins` allows origins, and `DELETE /origins?account=&origin=` removes an origin.
 */
export function originRoutes({ isOperator, embedOrigins }: OriginRoutesDeps): Handler {
  return operatorOnly(isOperator, {
    GET: (context) => {
      const query = parseQueryParameters(context.query, originParameters);
      if (!query.ok) return sendOutcome(context, query);
      const listed = embedOrigins.list(query.values.account);
      sendOutcome(
        context,
        mapOutcome(listed, ({ accountName, origin }) => ({ account: accountName, origin })),
      );
    },
    POST: (context) => {
      replyToJsonBody(context, (body) => {
        const { account, origins } = (body ?? {}) as Readonly<Record<string, unknown>>;
        if (typeof account !== 'string') return invalidRequest('account');
        if (!Array.isArray(origins) || origins.length > bounds.embedOriginsPerAccountMax || !origins.every(isOrigin)) {
          return invalidRequest('origins');
        }
        return mapOutcome(embedOrigins.allow(account, origins), (outcome, index) => ({
          origin: origins[index]!,
          outcome,
        }));
      });
    },
    DELETE: (context) => sendOutcome(context, remove(context)),
  });

  function remove(context: RequestContext): Outcome<unknown> {
    const query = parseQueryParameters(context.query, originParameters);
    if (!query.ok) return query;
    const { account, origin } = query.values;
    if (account === undefined) return invalidRequest('account');
    if (!isOrigin(origin)) return invalidRequest('origin');
    return mapOutcome(embedOrigins.remove(account, [origin]), (outcome) => ({ origin, outcome }));
  }
}

function isOrigin(value: unknown): value is string {
  return typeof value === 'string' && validateWebOrigin(value) === null;
}

function mapOutcome<From, To>(
  outcome: Outcome<readonly From[]>,
  map: (from: From, index: number) => To,
): Outcome<To[]> {
  return outcome.ok ? succeeded(outcome.value.map(map)) : outcome;
}
