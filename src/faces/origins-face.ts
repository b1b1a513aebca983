import type { AllowedOrigin, Allowing, Removal } from '../access/embed-origin-register.ts';
import { webOriginFault } from '../access/web-origin.ts';
import { bounds } from '../bounds.ts';
import { done, invalidRequest, type Outcome } from '../domain/outcome.ts';
import type { Exchange, Handler } from '../http/listener.ts';
import { answerJsonBody, forOperator, type IsOperator, sendOutcome } from './for-operator.ts';
import { readQueryParameters } from './query-parameters.ts';

export const originsPath = '/origins';

/** What the face asks of whoever keeps the lists. */
export interface OriginLists {
  allow(account: string, origins: readonly string[]): Outcome<readonly Allowing[]>;
  list(account?: string): Outcome<readonly AllowedOrigin[]>;
  remove(account: string, origins: readonly string[]): Outcome<readonly Removal[]>;
}

export interface OriginsFacePorts {
  readonly isOperator: IsOperator;
  readonly originLists: OriginLists;
}

const parameters = ['account', 'origin'] as const;

/**
 * Where the widgets of each account may be embedded, for the operator: `GET /origins` lists, of one account with
 * `?account=`; `POST /origins` allows some, and `DELETE /origins?account=&origin=` takes one off the list.
 */
export function originsFace({ isOperator, originLists }: OriginsFacePorts): Handler {
  return forOperator(isOperator, {
    GET: (exchange) => {
      const query = readQueryParameters(exchange.query, parameters);
      if (!query.ok) return sendOutcome(exchange, query);
      const listed = originLists.list(query.values.account);
      sendOutcome(
        exchange,
        mapped(listed, ({ accountName, origin }) => ({ account: accountName, origin })),
      );
    },
    POST: (exchange) => {
      answerJsonBody(exchange, (body) => {
        const { account, origins } = (body ?? {}) as Readonly<Record<string, unknown>>;
        if (typeof account !== 'string') return invalidRequest('account');
        if (!Array.isArray(origins) || origins.length > bounds.embedOriginsMax || !origins.every(isOrigin)) {
          return invalidRequest('origins');
        }
        return mapped(originLists.allow(account, origins), (outcome, at) => ({ origin: origins[at]!, outcome }));
      });
    },
    DELETE: (exchange) => sendOutcome(exchange, remove(exchange)),
  });

  function remove(exchange: Exchange): Outcome<unknown> {
    const query = readQueryParameters(exchange.query, parameters);
    if (!query.ok) return query;
    const { account, origin } = query.values;
    if (account === undefined) return invalidRequest('account');
    if (!isOrigin(origin)) return invalidRequest('origin');
    return mapped(originLists.remove(account, [origin]), (outcome) => ({ origin, outcome }));
  }
}

function isOrigin(value: unknown): value is string {
  return typeof value === 'string' && webOriginFault(value) === null;
}

function mapped<From, To>(outcome: Outcome<readonly From[]>, map: (from: From, at: number) => To): Outcome<To[]> {
  return outcome.ok ? done(outcome.value.map(map)) : outcome;
}
