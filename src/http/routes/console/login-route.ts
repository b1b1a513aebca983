import type { Logger } from 'pino';
import type { ConsoleAccess, NewLogin } from '../../../auth/console-access.ts';
import type { ConsoleLogin } from '../../../auth/console-logins.ts';
import type { FailedLogins } from '../../../auth/failed-logins.ts';
import { isJsonObject } from '../../../domain/assert-options.ts';
import { type ApiError, failureOutcome, invalidRequest, type Outcome } from '../../../domain/outcome.ts';
import type { RequestContext, RequestHandler } from '../../engines/listener.ts';
import type { HeaderText } from '../../engines/response-head.ts';
import { errorReply, jsonHeaders } from '../replies.ts';
import { isJsonMediaType, parseJsonBody } from '../request-parsing.ts';
import { allowedMethods, restrictMethods, withRoute } from '../routing.ts';
import { consoleCookieHeader, deleteConsoleCookieHeader, readConsoleCookie } from './console-cookie.ts';
import { isSameOriginRequest } from './same-origin.ts';

export interface LoginRouteDeps {
  readonly access: ConsoleAccess;
  readonly failedLogins: FailedLogins;
  readonly logger: Logger;
  /** Whether the listener itself uses https. */
  readonly isTls: boolean;
  /** Returns the JSON response that describes a login; null if the login has just ended. */
  readonly describeLogin: (login: ConsoleLogin) => object | null;
  /** Returns the properties of a login for the process log. */
  readonly logFields: (login: ConsoleLogin) => object;
}

const loginMethods = allowedMethods('GET', 'POST', 'DELETE');

/**
 * Creates the handler of `/console/api/login`. `POST` with an API key or operator token logs in, `GET` describes the login of the cookie, and
 * `DELETE` logs out. A login always gets a new token, so the cookie of a request never becomes the cookie of a new login.
 */
export function loginRoute(deps: LoginRouteDeps): RequestHandler {
  const { access } = deps;
  const handler = restrictMethods(loginMethods, (context) => {
    if (!isSameOriginRequest(context)) return sendError(context, { code: 'CROSS_SITE_REQUEST' });
    if (context.method === 'POST') return handleLogin(deps, context);
    const token = readConsoleCookie(context, access.console);
    if (context.method === 'DELETE') {
      access.logOut(token);
      return context.reply({ status: 204, headers: deleteConsoleCookieHeader(access.console), body: '' });
    }
    sendLogin(deps, context, access.findLogin(token));
  });
  return withRoute('console', handler);
}

function handleLogin(deps: LoginRouteDeps, context: RequestContext): void {
  const { access } = deps;
  const earlierToken = readConsoleCookie(context, access.console);
  const origin = context.getRequestHeader('origin');
  const isSecure = deps.isTls || origin.startsWith('https://');
  const address = context.getPeerAddress();
  const isJson = isJsonMediaType(context.getRequestHeader('content-type'));
  context.readBody((bytes) => {
    const body = parseJsonBody(isJson, bytes);
    const created = body.ok ? logIn(deps, body.value, address) : body;
    if (!created.ok) return sendError(context, created.error);
    const { token, login } = created.value;
    access.logOut(earlierToken);
    deps.logger.info(deps.logFields(login), 'console login');
    sendLogin(deps, context, login, consoleCookieHeader(access.console, token, isSecure));
  });
}

/** Checks the body of a login request, and creates the login. Counts failed logins by client address. */
function logIn({ access, failedLogins }: LoginRouteDeps, body: unknown, address: string): Outcome<NewLogin> {
  const name = access.console === 'partner' ? 'key' : 'token';
  const secret = isJsonObject(body) && Object.keys(body).length === 1 ? body[name] : undefined;
  if (typeof secret !== 'string') return invalidRequest(name);
  const created = access.logIn(secret.trim());
  if (created.ok || created.error.code !== 'LOGIN_FAILED') return created;
  const retryAfterSeconds = failedLogins.countFailure(address);
  return retryAfterSeconds === 0 ? created : failureOutcome({ code: 'TOO_MANY_LOGINS', retryAfterSeconds });
}

function sendLogin(
  { describeLogin }: LoginRouteDeps,
  context: RequestContext,
  login: ConsoleLogin | null,
  headers: HeaderText = '',
): void {
  const described = login && describeLogin(login);
  if (described === null) sendError(context, { code: 'LOGIN_REQUIRED' });
  else context.reply({ status: 200, headers: jsonHeaders + headers, body: JSON.stringify(described) });
}

function sendError(context: RequestContext, error: ApiError): void {
  context.reply(errorReply(error, context.requestId));
}
