import { isIP } from 'node:net';
import type { Outcome } from '../../domain/outcome.ts';
import type { Handler, RequestContext } from '../engines/listener.ts';
import { allowMethods, withMethods } from './methods.ts';
import { errorReply, jsonHeaders, operatorTokenRequiredReply } from './replies.ts';
import { isJsonMediaType, parseJsonBody } from './request-parsing.ts';

/**
 * Creates a check of `Host` headers that prevents DNS rebinding. In this attack, a web page reaches the listener through a host name
 * that resolves to this machine, and the browser sends this host name. The check accepts IP addresses, `localhost` and the given names
 * with any port. It also accepts an empty or missing header, which no browser sends.
 *
 * @param names host names without ports, in any case
 */
export function createHostCheck(names: readonly string[]): (host: string) => boolean {
  const allowedNames = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  return (host) => {
    if (host === '') return true;
    const [, ipv6 = '', name = ''] = /^(?:\[([^\]]*)\]|([^:]*?)\.?)(?::\d*)?$/.exec(host.toLowerCase()) ?? [];
    return allowedNames.has(name) || isIP(name) === 4 || isIP(ipv6) === 6;
  };
}

/** Whether an Authorization header contains the operator token. */
export type IsOperator = (authorization: string) => boolean;

type AdminMethod = 'GET' | 'POST' | 'DELETE';

/** Creates the handler of a path for operators. It checks the method first and then the operator token. */
export function operatorOnly(isOperator: IsOperator, handlers: { readonly [Name in AdminMethod]?: Handler }): Handler {
  const handle: Handler = (context) => {
    if (!isOperator(context.header('authorization'))) return context.reply(operatorTokenRequiredReply());
    return handlers[context.method === 'HEAD' ? 'GET' : (context.method as AdminMethod)]!(context);
  };
  return withMethods(allowMethods(...(Object.keys(handlers) as AdminMethod[])), handle);
}

/** Reads a JSON body and replies with the outcome of `handle`, which receives the parsed body and its JSON text. */
export function replyToJsonBody(
  context: RequestContext,
  handle: (body: unknown, text: string) => Outcome<unknown> | Promise<Outcome<unknown>>,
  status = 200,
): void {
  const isJson = isJsonMediaType(context.header('content-type'));
  context.readBody(async (bytes) => {
    const body = parseJsonBody(isJson, bytes);
    sendOutcome(context, body.ok ? await handle(body.value, bytes.toString()) : body, status);
  });
}

export function sendOutcome(context: RequestContext, outcome: Outcome<unknown>, status = 200): void {
  context.reply(
    outcome.ok
      ? { status, headers: jsonHeaders, body: `${JSON.stringify(outcome.value)}\n` }
      : errorReply(outcome.error, context.requestId),
  );
}
