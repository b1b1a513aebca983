import type { Logger } from 'pino';
import type { AuditTrail } from '../../../audit/audit-trail.ts';
import type { EmbedOriginRegistry } from '../../../auth/embed-origin-registry.ts';
import { validateWebOrigin } from '../../../auth/web-origin.ts';
import { bounds } from '../../../bounds.ts';
import { invalidRequest } from '../../../domain/outcome.ts';
import { parseQueryParameters } from '../../../domain/query-string.ts';
import type { OperatorRoute } from './operator-route.ts';
import { tryKeyFile } from './try-key-file.ts';

const originParameters = ['account', 'origin'] as const;

export interface OriginRouteDeps {
  readonly logger: Logger;
  readonly audit: Pick<AuditTrail, 'recorderOf'>;
  readonly embedOrigins: Pick<EmbedOriginRegistry, 'allowOrigins' | 'listOrigins' | 'removeOrigins'>;
}

/**
 * Returns the route that manages the web origins that may embed the widgets of an account. `GET /origins` lists the origins of all
 * accounts, or of the account in `?account=`. `POST /origins` allows origins, and `DELETE /origins?account=&origin=` removes an origin.
 */
export function originRoute({ audit, embedOrigins, logger }: OriginRouteDeps): OperatorRoute {
  return {
    path: '/origins',
    name: 'origins',
    GET(request) {
      const query = parseQueryParameters(request.query, originParameters);
      if (!query.ok) return query;
      return tryKeyFile(() => {
        const listed = embedOrigins.listOrigins(query.values.account);
        return listed.map(({ accountName, origin }) => ({ account: accountName, origin }));
      });
    },
    POST(body, _text, { actor }) {
      const { account, origins } = (body ?? {}) as Readonly<Record<string, unknown>>;
      if (typeof account !== 'string') return invalidRequest('account');
      if (!Array.isArray(origins) || origins.length > bounds.embedOriginsPerAccountMax || !origins.every(isOrigin)) {
        return invalidRequest('origins');
      }
      return tryKeyFile(() => {
        const outcomes = embedOrigins.allowOrigins(account, origins, audit.recorderOf(actor));
        const count = outcomes.filter((outcome) => outcome === 'allowed').length;
        if (count > 0) logger.info({ account, origins: count }, 'embedding origins allowed through the operations API');
        return outcomes.map((outcome, index) => ({ origin: origins[index], outcome }));
      });
    },
    DELETE(request) {
      const query = parseQueryParameters(request.query, originParameters);
      if (!query.ok) return query;
      const { account, origin } = query.values;
      if (account === undefined) return invalidRequest('account');
      if (!isOrigin(origin)) return invalidRequest('origin');
      return tryKeyFile(() => {
        const [outcome] = embedOrigins.removeOrigins(account, [origin], audit.recorderOf(request.actor));
        if (outcome === 'removed') {
          logger.info({ account, origins: 1 }, 'embedding origins removed through the operations API');
        }
        return [{ origin, outcome }];
      });
    },
  };
}

function isOrigin(value: unknown): value is string {
  return typeof value === 'string' && validateWebOrigin(value) === null;
}
