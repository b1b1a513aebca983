import type { PartnerConsole } from '../../../auth/console-access.ts';
import type { ConsoleLogin } from '../../../auth/console-logins.ts';
import { formatIsoTimestamp, formatIsoTimestampOrNull } from '../../../domain/calendar.ts';
import type { Clock } from '../../../domain/clock.ts';
import type { RequestHandler } from '../../engines/listener.ts';
import { type ApiRoutesDeps, apiRoutes } from '../api-routes.ts';
import { CorsPolicy } from '../cors.ts';
import { readConsoleCookie } from './console-cookie.ts';
import { type ConsoleFiles, consolePageHandlers, consolePath } from './console-page.ts';
import { type LoginRouteDeps, loginRoute } from './login-route.ts';
import { isSameOriginRequest } from './same-origin.ts';

interface PartnerConsoleDeps
  extends Pick<ApiRoutesDeps, 'verticals' | 'operations' | 'operationDeps'>,
    Pick<LoginRouteDeps, 'failedLogins' | 'logger' | 'isTls'> {
  readonly access: PartnerConsole;
  readonly files: ConsoleFiles;
  readonly clock: Clock;
  /** Whether the clock is a test clock, so that the figures are not real. */
  readonly isTestClock: boolean;
}

/**
 * Creates the handler of the partner console: the page with its files, the login, and the operations that the console calls. The operations
 * are those of the API, with the cookie of a login instead of an API key.
 */
export function partnerConsoleRoutes(deps: PartnerConsoleDeps): RequestHandler {
  const { access, files, clock } = deps;
  const describe = (login: ConsoleLogin) => access.describeKey(login);
  const login = loginRoute({
    ...deps,
    logFields: (created) => {
      const described = describe(created);
      return { keyId: described?.id, account: described?.accountName };
    },
    describeLogin: (created) => {
      const described = describe(created);
      if (described === null) return null;
      const { key, id, accountName } = described;
      return {
        account: accountName,
        key_id: id,
        vertical: key.vertical,
        mode: key.mode,
        scope: key.scope,
        login_expires_at: formatIsoTimestamp(created.expiresAtMs),
        key_expires_at: formatIsoTimestampOrNull(Number.isFinite(key.expiresAtMs) ? key.expiresAtMs : null),
        now: formatIsoTimestamp(clock.wallMs()),
        test_clock: deps.isTestClock,
      };
    },
  });
  return apiRoutes({
    ...deps,
    basePath: `${consolePath}/api/v1`,
    actorKind: 'partner_console',
    // Pages of other origins cannot call the console, whatever SVC_CORS_ORIGINS is.
    cors: new CorsPolicy([]),
    otherHandlers: new Map([...consolePageHandlers('partner', files), [`${consolePath}/api/login`, login]]),
    admitRequest: (context, vertical, operation) =>
      isSameOriginRequest(context)
        ? access.admitRequest(readConsoleCookie(context, 'partner'), vertical, operation)
        : { ok: false, error: { code: 'CROSS_SITE_REQUEST' }, limitStatus: null, caller: null },
  });
}
