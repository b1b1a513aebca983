import { issuedKeyJson } from '../access/issued-key-json.ts';
import type { IssuedKey, NewKey, Revocation } from '../access/key-register.ts';
import { type KeyedVertical, parseKeyRequest } from '../access/key-request.ts';
import type { Clock } from '../domain/clock.ts';
import { done, type Outcome, refusedFor } from '../domain/outcome.ts';
import type { Handler } from '../http/listener.ts';
import { answerJsonBody, forOperator, type IsOperator, sendOutcome } from './for-operator.ts';

export const keysPath = '/keys';

/** What the face asks of whoever keeps the keys. */
export interface Keys {
  create(wanted: NewKey, nowMs: number): Outcome<{ readonly key: string; readonly issued: IssuedKey }>;
  find(id: string): IssuedKey | undefined;
  list(): readonly IssuedKey[];
  revoke(id: string, nowMs: number): Outcome<Revocation>;
}

export interface KeysFacePorts {
  readonly isOperator: IsOperator;
  readonly keys: Keys;
  readonly clock: Clock;
  /** Those served: a key of another would open nothing here. */
  readonly verticals: readonly KeyedVertical[];
}

/**
 * API keys for the operator: `GET /keys` lists them, `POST /keys` issues one and shows it once, and under `/keys/<id>` GET shows
 * one and DELETE ends it for good. What is shown never holds the key again, nor its hash.
 */
export function keysFace({ isOperator, keys, clock, verticals }: KeysFacePorts): Handler {
  const shown = (key: IssuedKey) => issuedKeyJson(key, clock.wallMs());
  const all = forOperator(isOperator, {
    GET: (exchange) => sendOutcome(exchange, done(keys.list().map(shown))),
    POST: (exchange) => {
      const issue = (body: unknown): Outcome<object> => {
        const nowMs = clock.wallMs();
        const wanted = parseKeyRequest(body, verticals, nowMs);
        if (!wanted.ok) return wanted;
        const created = keys.create(wanted.value, nowMs);
        return created.ok ? done({ key: created.value.key, ...shown(created.value.issued) }) : created;
      };
      answerJsonBody(exchange, issue, 201);
    },
  });
  const one = forOperator(isOperator, {
    GET: (exchange) => sendOutcome(exchange, find(exchange.path)),
    DELETE: (exchange) => {
      const revoked = keys.revoke(idIn(exchange.path), clock.wallMs());
      sendOutcome(exchange, revoked.ok ? find(exchange.path) : revoked);
    },
  });
  const find = (path: string): Outcome<object> => {
    const key = keys.find(idIn(path));
    return key === undefined ? refusedFor('NOT_FOUND') : done(shown(key));
  };
  return (exchange) => (exchange.path === keysPath ? all(exchange) : one(exchange));
}

function idIn(path: string): string {
  return path.slice(keysPath.length + 1);
}
