import type { AllowedOrigin, AllowResult, RemoveResult } from '../access/embed-origin-register.ts';
import { validateWebOrigin } from '../access/web-origin.ts';
import { bounds } from '../bounds.ts';
import { succeeded, invalidRequest, type Outcome } from '../domain/outcome.ts';
import type { RequestContext, Handler } from '../http/listener.ts';
import { replyToJsonBody, operatorOnly, type IsOperator, sendOutcome } from './for-operator.ts';
import { parseQueryParameters } from './query-parameters.ts';

export const originsPath = '/origins';

/** What the face asks of whoever keeps the lists. */
export interface EmbedOriginAdmin {
  allow(account: string, origins: readonly string[]): Outcome<readonly AllowResult[]>;
  list(account?: string): Outcome<readonly AllowedOrigin[]>;
  remove(account: string, origins: readonly string[]): Outcome<readonly RemoveResult[]>;
}

export interface OriginRoutesDeps {
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
