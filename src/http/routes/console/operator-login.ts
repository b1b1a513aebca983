import { countConsoleRequest, type OperatorConsole } from '../../../auth/console-access.ts';
import type { KeyVertical } from '../../../auth/key-registry.ts';
import { formatIsoTimestamp } from '../../../domain/calendar.ts';
import type { Clock } from '../../../domain/clock.ts';
import type { RequestContext, RequestHandler } from '../../engines/listener.ts';
import type { OperatorCheck } from '../operator/operator-route.ts';
import { errorReply } from '../replies.ts';
import { readConsoleCookie } from './console-cookie.ts';
import { type LoginRouteDeps, loginRoute } from './login-route.ts';
import { isSameOriginRequest } from './same-origin.ts';

export interface OperatorLoginDeps extends Pick<LoginRouteDeps, 'failedLogins' | 'logger'> {
  readonly access: OperatorConsole;
  readonly clock: Clock;
  readonly verticals: readonly KeyVertical[];
  /** Null without a test clock. */
  readonly testClock: object | null;
}

/** Creates the handler of the operator's login, and the check of requests with the cookie of a login. */
export function operatorLogin(deps: OperatorLoginDeps): {
  readonly login: RequestHandler;
  readonly checkLogin: OperatorCheck;
} {
  const { access, clock, verticals, testClock } = deps;
  const login = loginRoute({
    ...deps,
    isTls: false,
    logFields: () => ({ operator: true }),
    describeLogin: ({ expiresAtMs }) => ({
      operator: true,
      login_expires_at: formatIsoTimestamp(expiresAtMs),
      now: formatIsoTimestamp(clock.wallMs()),
      test_clock: testClock !== null,
      verticals: verticals.map(({ segment }) => segment),
    }),
  });
  const findError = (context: RequestContext) => {
    if (!isSameOriginRequest(context)) return { code: 'CROSS_SITE_REQUEST' } as const;
    const found = access.findLogin(readConsoleCookie(context, access.console));
    return found === null ? ({ code: 'LOGIN_REQUIRED' } as const) : countConsoleRequest(found, clock.monotonicMs());
  };
  const checkLogin: OperatorCheck = (context) => {
    const error = findError(context);
    return error && errorReply(error, context.requestId);
  };
  return { login, checkLogin };
}
