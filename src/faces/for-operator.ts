import type { Outcome, Refusal } from '../domain/outcome.ts';
import { formatHeaders, type HeaderText } from '../http/header-text.ts';
import type { RequestContext, Handler } from '../http/listener.ts';
import { errorReply, jsonHeaders, operatorTokenRequiredReply } from './error-reply.ts';
import { isJsonMediaType, parseJsonBody } from './json-body.ts';

/** Whether an Authorization header is the operator's. */
export type IsOperator = (authorization: string) => boolean;

type AdminMethod = 'GET' | 'POST' | 'DELETE';

/**
 * Answers a path for the operator alone. The order of checks is that of the API: method, token, and for whoever reads a body its
 * size, content type and JSON. HEAD goes with GET.
 */
export function operatorOnly(isOperator: IsOperator, methods: { readonly [Name in AdminMethod]?: Handler }): Handler {
  const names = Object.keys(methods).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const allowed = formatHeaders({ Allow: [...names, 'OPTIONS'].join(', ') });
  const byName = new Map<string, Handler>(Object.entries(methods));
  const head = methods.GET;
  if (head !== undefined) byName.set('HEAD', head);
  return (exchange) => {
    if (exchange.method === 'OPTIONS') return exchange.reply({ status: 204, headers: allowed, body: '' });
    const answer = byName.get(exchange.method);
    if (answer === undefined) return sendError(exchange, { code: 'METHOD_NOT_ALLOWED' }, allowed);
    if (!isOperator(exchange.header('authorization'))) return exchange.reply(operatorTokenRequiredReply());
    return answer(exchange);
  };
}

/** Reads a body of JSON and answers with what `answer` makes of it and its text. */
export function replyToJsonBody(
  exchange: RequestContext,
  answer: (body: unknown, text: string) => Outcome<unknown> | Promise<Outcome<unknown>>,
  status = 200,
): void {
  const isJson = isJsonMediaType(exchange.header('content-type'));
  exchange.readBody(async (bytes) => {
    const read = parseJsonBody(isJson, bytes);
    sendOutcome(exchange, read.ok ? await answer(read.value, bytes.toString()) : read, status);
  });
}

export function sendOutcome(exchange: RequestContext, outcome: Outcome<unknown>, status = 200): void {
  if (!outcome.ok) sendError(exchange, outcome.refusal);
  else exchange.reply({ status, headers: jsonHeaders, body: `${JSON.stringify(outcome.value)}\n` });
}

function sendError(exchange: RequestContext, refusal: Refusal, headers: HeaderText = ''): void {
  exchange.reply(errorReply(refusal, exchange.requestId, headers));
}
