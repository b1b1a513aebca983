import { fixedHeaders } from '../http/header-text.ts';
import type { Exchange } from '../http/listener.ts';
import { errorReply } from './error-reply.ts';

/** The Allow header of what can only be read. */
export const allowReading = fixedHeaders({ Allow: 'GET, HEAD, OPTIONS' });

/** Has GET and HEAD answered; OPTIONS is told so, and anything else refused. */
export function answerReading(exchange: Exchange, answer: () => void | Promise<void>): void | Promise<void> {
  const { method } = exchange;
  if (method === 'GET' || method === 'HEAD') return answer();
  if (method === 'OPTIONS') exchange.reply({ status: 204, headers: allowReading, body: '' });
  else exchange.reply(errorReply({ code: 'METHOD_NOT_ALLOWED' }, exchange.requestId, allowReading));
}
