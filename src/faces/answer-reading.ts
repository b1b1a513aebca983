import { formatHeaders } from '../http/header-text.ts';
import type { RequestContext } from '../http/listener.ts';
import { errorReply } from './error-reply.ts';

/** The Allow header of what can only be read. */
export const allowReadHeaders = formatHeaders({ Allow: 'GET, HEAD, OPTIONS' });

/** Has GET and HEAD answered; OPTIONS is told so, and anything else refused. */
export function respondToRead(exchange: RequestContext, answer: () => void | Promise<void>): void | Promise<void> {
  const { method } = exchange;
  if (method === 'GET' || method === 'HEAD') return answer();
  if (method === 'OPTIONS') exchange.reply({ status: 204, headers: allowReadHeaders, body: '' });
  else exchange.reply(errorReply({ code: 'METHOD_NOT_ALLOWED' }, exchange.requestId, allowReadHeaders));
}
