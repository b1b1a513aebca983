import type { Mode } from '../domain/mode.ts';

/** The pages on which the widgets of an account may be shown (docs/contract.md#widget-origins). */
export interface EmbedPolicy {
  /** Value of the CSP directive `frame-ancestors` for the iframe page. */
  readonly frameAncestors: string;
  /**
   * Returns the value of `Access-Control-Allow-Origin` for a page of this origin. Returns null for a page that is not allowed, and '' for
   * a request without an origin, which needs no such header.
   */
  corsOriginFor(origin: string): string | null;
}

/**
 * Creates the policy for an account's origins. If the account has no origins, widgets of sandbox sessions may be shown on every page, and
 * widgets of live sessions on none.
 *
 * @param ownOrigin origin of the iframe page, which is always allowed
 */
export function createEmbedPolicy(mode: Mode, origins: readonly string[], ownOrigin: string): EmbedPolicy {
  if (origins.length > 0) return listedOriginsPolicy(origins, ownOrigin);
  return mode === 'test' ? anyOriginPolicy : listedOriginsPolicy([], ownOrigin);
}

const anyOriginPolicy: EmbedPolicy = { frameAncestors: '*', corsOriginFor: (origin) => (origin === '' ? '' : '*') };

function listedOriginsPolicy(origins: readonly string[], ownOrigin: string): EmbedPolicy {
  return {
    // The value is computed on demand, because most requests do not need it and the list may be long.
    get frameAncestors() {
      return origins.length === 0 ? "'none'" : origins.join(' ');
    },
    corsOriginFor: (origin) => {
      if (origin === '') return '';
      return origin === ownOrigin || origins.includes(origin) ? origin : null;
    },
  };
}
