import type { NewKey } from '../../auth/api-key.ts';
import type { AllowedOrigin, AllowResult, RemoveResult } from '../../auth/embed-origin-registry.ts';
import { type KeyVertical, parseKeyRequest, toIssuedKeyJson } from '../../auth/key-json.ts';
import type { IssuedKey, RevokeResult } from '../../auth/key-registry.ts';
import { validateWebOrigin } from '../../auth/web-origin.ts';
import { bounds } from '../../bounds.ts';
import type { Clock } from '../../domain/clock.ts';
import { invalidRequest, type Outcome, refusedWith, succeeded } from '../../domain/outcome.ts';
import type { Handler, RequestContext } from '../engines/listener.ts';
import { type IsOperator, operatorOnly, replyToJsonBody, sendOutcome } from './operator-access.ts';
import { parseQueryParameters } from './request-parsing.ts';

export const keysPath = '/keys';

/** What the face asks of whoever keeps the keys. */
interface KeyAdmin {
  create(wanted: NewKey, nowMs: number): Outcome<{ readonly key: string; readonly issued: IssuedKey }>;
  find(id: string): IssuedKey | undefined;
  list(): readonly IssuedKey[];
  revoke(id: string, nowMs: number): Outcome<RevokeResult>;
}

interface KeyRoutesDeps {
  readonly isOperator: IsOperator;
  readonly keys: KeyAdmin;
  readonly clock: Clock;
  /** Those served: a key of another would open nothing here. */
  readonly verticals: readonly KeyVertical[];
}

/**
 * API keys for the operator: `GET /keys` lists them, `POST /keys` issues one and shows it once, and under `/keys/<id>` GET shows
 * one and DELETE ends it for good. What is shown never holds the key again, nor its hash.
 */
export function keyRoutes({ isOperator, keys, clock, verticals }: KeyRoutesDeps): Handler {
  const shown = (key: IssuedKey) => toIssuedKeyJson(key, clock.wallMs());
  const all = operatorOnly(isOperator, {
    GET: (exchange) => sendOutcome(exchange, succeeded(keys.list().map(shown))),
    POST: (exchange) => {
      const issue = (body: unknown): Outcome<object> => {
        const nowMs = clock.wallMs();
        const wanted = parseKeyRequest(body, verticals, nowMs);
        if (!wanted.ok) return wanted;
        const created = keys.create(wanted.value, nowMs);
        return created.ok ? succeeded({ key: created.value.key, ...shown(created.value.issued) }) : created;
      };
      replyToJsonBody(exchange, issue, 201);
    },
  });
  const one = operatorOnly(isOperator, {
    GET: (exchange) => sendOutcome(exchange, find(exchange.path)),
    DELETE: (exchange) => {
      const revoked = keys.revoke(keyIdOf(exchange.path), clock.wallMs());
      sendOutcome(exchange, revoked.ok ? find(exchange.path) : revoked);
    },
  });
  const find = (path: string): Outcome<object> => {
    const key = keys.find(keyIdOf(path));
    return key === undefined ? refusedWith('NOT_FOUND') : succeeded(shown(key));
  };
  return (exchange) => (exchange.path === keysPath ? all(exchange) : one(exchange));
}

function keyIdOf(path: string): string {
  return path.slice(keysPath.length + 1);
}

export const originsPath = '/origins';

/** What the face asks of whoever keeps the lists. */
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
 * Where the widgets of each account may be embedded, for the operator: `GET /origins` lists, of one account with
 * `?account=`; `POST /origins` allows some, and `DELETE /origins?account=&origin=` takes one off the list.
 */
export function originRoutes({ isOperator, embedOrigins }: OriginRoutesDeps): Handler {
  return operatorOnly(isOperator, {
    GET: (exchange) => {
      const query = parseQueryParameters(exchange.query, originParameters);
      if (!query.ok) return sendOutcome(exchange, query);
      const listed = embedOrigins.list(query.values.account);
      sendOutcome(
        exchange,
        mapOutcome(listed, ({ accountName, origin }) => ({ account: accountName, origin })),
      );
    },
    POST: (exchange) => {
      replyToJsonBody(exchange, (body) => {
        const { account, origins } = (body ?? {}) as Readonly<Record<string, unknown>>;
        if (typeof account !== 'string') return invalidRequest('account');
        if (!Array.isArray(origins) || origins.length > bounds.embedOriginsPerAccountMax || !origins.every(isOrigin)) {
          return invalidRequest('origins');
        }
        return mapOutcome(embedOrigins.allow(account, origins), (outcome, at) => ({ origin: origins[at]!, outcome }));
      });
    },
    DELETE: (exchange) => sendOutcome(exchange, remove(exchange)),
  });

  function remove(exchange: RequestContext): Outcome<unknown> {
    const query = parseQueryParameters(exchange.query, originParameters);
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

function mapOutcome<From, To>(outcome: Outcome<readonly From[]>, map: (from: From, at: number) => To): Outcome<To[]> {
  return outcome.ok ? succeeded(outcome.value.map(map)) : outcome;
}
