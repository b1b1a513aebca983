import { isIP } from 'node:net';
import type { Outcome, Refusal } from '../../domain/outcome.ts';
import type { Handler, RequestContext } from '../engines/listener.ts';
import { formatHeaders, type HeaderText } from '../engines/response-head.ts';
import { errorReply, jsonHeaders, operatorTokenRequiredReply } from './replies.ts';
import { isJsonMediaType, parseJsonBody } from './request-parsing.ts';

/**
 * Returns a check of `Host` headers against DNS rebinding: a web page whose name is made to resolve to this machine reaches the
 * listener, but sends that name. The check accepts, whatever the port, an IP address, `localhost` and the names given, and an empty or
 * missing header, which no browser sends.
 *
 * @param names host names without ports, in any case
 */
export function createHostCheck(names: readonly string[]): (host: string) => boolean {
  const known = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  return (host) => {
    if (host === '') return true;
    const [, ipv6 = '', name = ''] = /^(?:\[([^\]]*)\]|([^:]*?)\.?)(?::\d*)?$/.exec(host.toLowerCase()) ?? [];
    return known.has(name) || isIP(name) === 4 || isIP(ipv6) === 6;
  };
}

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
