import type { Outcome, Refusal } from '../domain/outcome.ts';
import { fixedHeaders, type HeaderText } from '../http/header-text.ts';
import type { Exchange, Handler } from '../http/listener.ts';
import type { ConfirmationsView } from '../operations/confirm-revenue.ts';
import { errorReply, jsonHeaders } from './error-reply.ts';
import { isJsonMediaType, readJson } from './json-body.ts';

export const confirmationsPath = '/confirmations';

export interface ConfirmationsFacePorts {
  /** Whether an Authorization header is the operator's. */
  readonly isOperator: (authorization: string) => boolean;
  readonly confirm: (body: unknown) => Promise<Outcome<ConfirmationsView>>;
}

const allowed = fixedHeaders({ Allow: 'POST, OPTIONS' });

/**
 * `POST /confirmations` (D11), for the operator alone. The order of checks is that of the API: method, token, body size,
 * content type, JSON, then the rows, which never refuse each other.
 */
export function confirmationsFace({ isOperator, confirm }: ConfirmationsFacePorts): Handler {
  return (exchange) => {
    if (exchange.method === 'OPTIONS') return exchange.reply({ status: 204, headers: allowed, body: '' });
    if (exchange.method !== 'POST') return refuse(exchange, { code: 'METHOD_NOT_ALLOWED' }, allowed);
    if (!isOperator(exchange.header('authorization'))) return refuse(exchange, { code: 'UNAUTHORIZED' });
    const isJson = isJsonMediaType(exchange.header('content-type'));
    exchange.readBody(async (bytes) => {
      const read = readJson(isJson, bytes);
      if (!read.ok) return refuse(exchange, read.refusal);
      const outcome = await confirm(read.value);
      if (!outcome.ok) return refuse(exchange, outcome.refusal);
      exchange.reply({ status: 200, headers: jsonHeaders, body: `${JSON.stringify(outcome.value)}\n` });
    });
  };
}

function refuse(exchange: Exchange, refusal: Refusal, headers: HeaderText = ''): void {
  exchange.reply(errorReply(refusal, exchange.requestId, headers));
}
