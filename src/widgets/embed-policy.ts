import type { Mode } from '../domain/mode.ts';

/** Where the widgets of an account may be shown (docs/contract.md#widget-origins). */
export interface EmbedPolicy {
  /** Value of the CSP directive `frame-ancestors` for the iframe's page. */
  readonly frameAncestors: string;
  /**
   * Returns the value of `Access-Control-Allow-Origin` for a page of this origin; null if the page is not allowed, and '' for a request
   * without an origin, which needs no such header.
   */
  corsOriginFor(origin: string): string | null;
}

/**
 * Creates the policy for an account's origins. Without any origins, sandbox sessions may be shown on every page and live ones on none.
 *
 * @param ownOrigin origin of the iframe's page, which is always allowed
 */
export function createEmbedPolicy(mode: Mode, origins: readonly string[], ownOrigin: string): EmbedPolicy {
  if (origins.length > 0) return listedOriginsPolicy(origins, ownOrigin);
  return mode === 'test' ? anyOriginPolicy : listedOriginsPolicy([], ownOrigin);
}

const anyOriginPolicy: EmbedPolicy = { frameAncestors: '*', corsOriginFor: (origin) => (origin === '' ? '' : '*') };

function listedOriginsPolicy(origins: readonly string[], ownOrigin: string): EmbedPolicy {
  return {
    // Computed lazily, because most requests do not need it and a list may be long.
    get frameAncestors() {
      return origins.length === 0 ? "'none'" : origins.join(' ');
    },
    corsOriginFor: (origin) => {
      if (origin === '') return '';
      return origin === ownOrigin || origins.includes(origin) ? origin : null;
    },
  };
}
