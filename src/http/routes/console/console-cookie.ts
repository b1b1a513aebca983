import type { ConsoleName } from '../../../auth/console-logins.ts';
import { bounds } from '../../../bounds.ts';
import type { RequestContext } from '../../engines/listener.ts';
import { formatHeader, type HeaderText } from '../../engines/response-head.ts';

/** Names of the cookies. The consoles need different names, because cookies of one host are sent to all of its ports. */
const cookieNames: Readonly<Record<ConsoleName, string>> = {
  partner: 'svc_console',
  operator: 'svc_operator_console',
};

/**
 * Returns the token in the cookie of a console; null if there is no valid one. Two cookies of this name are not accepted: another host of
 * the same domain may have set one of them.
 */
export function readConsoleCookie(context: RequestContext, console: ConsoleName): string | null {
  const start = `${cookieNames[console]}=`;
  const values = context
    .getRequestHeader('cookie')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start));
  const [token = ''] = values.map((pair) => pair.slice(start.length));
  // The token of a partner starts with a tenant code, unless an earlier release issued it.
  return values.length === 1 && /^(?:[0-9a-f]{10})?[\w-]{43}$/.test(token) ? token : null;
}

/**
 * Formats the header that sets the cookie of a login. Scripts cannot read the cookie, and browsers send it only with requests of pages of
 * the same site. Without the attribute `Path`, browsers send it only to paths in the folder of the login, also behind a path prefix.
 *
 * @param isSecure whether browsers must send the cookie only over https
 */
export function consoleCookieHeader(console: ConsoleName, token: string, isSecure: boolean): HeaderText {
  return setCookieHeader(console, token, bounds.consoleLoginMs / 1000, isSecure);
}

/** Formats the header that deletes the cookie of a console. */
export function deleteConsoleCookieHeader(console: ConsoleName): HeaderText {
  return setCookieHeader(console, '', 0, false);
}

function setCookieHeader(console: ConsoleName, value: string, maxAgeSeconds: number, isSecure: boolean): HeaderText {
  const attributes = `Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return formatHeader('Set-Cookie', `${cookieNames[console]}=${value}; ${attributes}`);
}
