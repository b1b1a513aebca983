import { toIssuedKeyJson } from '../access/issued-key-json.ts';
import type { IssuedKey, NewKey, RevokeResult } from '../access/key-register.ts';
import { type KeyVertical, parseKeyRequest } from '../access/key-request.ts';
import type { Clock } from '../domain/clock.ts';
import { succeeded, type Outcome, refusedWith } from '../domain/outcome.ts';
import type { Handler } from '../http/listener.ts';
import { replyToJsonBody, operatorOnly, type IsOperator, sendOutcome } from './for-operator.ts';

export const keysPath = '/keys';

/** What the face asks of whoever keeps the keys. */
export interface KeyAdmin {
  create(wanted: NewKey, nowMs: number): Outcome<{ readonly key: string; readonly issued: IssuedKey }>;
  find(id: string): IssuedKey | undefined;
  list(): readonly IssuedKey[];
  revoke(id: string, nowMs: number): Outcome<RevokeResult>;
}

export interface KeyRoutesDeps {
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
