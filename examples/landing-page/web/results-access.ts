import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * Figures about revenue are not for visitors. With a password, browsers ask for it (any user name). Without one they are shown
 * to this machine alone: by a loopback address, under a loopback name (another site may point its own name here), and not
 * through a proxy, whose connections all come from this machine.
 */
export function checkResultsAccess(
  { headers, socket }: IncomingMessage,
  password: string | null,
): 'open' | 'ask' | 'closed' {
  if (password !== null) {
    const given = /^Basic ([A-Za-z0-9+/]+=*)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    const text = Buffer.from(given, 'base64').toString('utf8');
    return equalsInConstantTime(text.slice(text.indexOf(':') + 1), password) ? 'open' : 'ask';
  }
  const fromHere = /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '');
  const byOurName = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(headers.host ?? '');
  const throughProxy = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
  return fromHere && byOurName && !throughProxy ? 'open' : 'closed';
}

/** Takes as long whatever is wrong. */
function equalsInConstantTime(given: string, wanted: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', wanted, 'buffer'));
}
