import type { Mode } from '../domain/mode.ts';

/** Where the widgets of an account may be shown (docs/contract.md#widget-origins). */
export interface EmbedPolicy {
  /** What the CSP directive `frame-ancestors` is to hold for the iframe's page. */
  readonly frameAncestors: string;
  /**
   * What `Access-Control-Allow-Origin` is to hold for a page of this origin that mounts the script: null where it may not. An
   * absent origin, as of a request from our own page, needs no such header: ''.
   */
  corsOriginFor(origin: string): string | null;
}

/**
 * The policy for an account's origins. An account that has named none may show its sandbox sessions anywhere, since they
 * show nothing real, and its live ones nowhere.
 *
 * @param ownOrigin where the iframe's page comes from: what it asks for needs no permission
 */
export function createEmbedPolicy(mode: Mode, origins: readonly string[], ownOrigin: string): EmbedPolicy {
  if (origins.length > 0) return listedOriginsPolicy(origins, ownOrigin);
  return mode === 'test' ? anyOriginPolicy : listedOriginsPolicy([], ownOrigin);
}

const anyOriginPolicy: EmbedPolicy = { frameAncestors: '*', corsOriginFor: (origin) => (origin === '' ? '' : '*') };

function listedOriginsPolicy(origins: readonly string[], ownOrigin: string): EmbedPolicy {
  return {
    // Put together only for a page: most requests are not for one, and a list may be long.
    get frameAncestors() {
      return origins.length === 0 ? "'none'" : origins.join(' ');
    },
    corsOriginFor: (origin) => {
      if (origin === '') return '';
      return origin === ownOrigin || origins.includes(origin) ? origin : null;
    },
  };
}
