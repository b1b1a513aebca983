import { hash } from 'node:crypto';
import { bounds } from '../bounds.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import type { CatalogFile } from './catalog-schema.ts';

export const catalogVersionPattern = new RegExp(`^[0-9a-f]{${bounds.catalogVersionCharacters}}$`);

/**
 * Computes the version of a catalog: the first characters of the SHA-256 hash of the catalog's values and mode. Whitespace and the order
 * of members do not change the version.
 */
export function computeCatalogVersion(catalog: CatalogFile, mode: ApiKeyMode): string {
  return hashCatalogVersion(canonicalJson(catalog), mode);
}

/** Computes the live version and the test version of a catalog. Serializes the catalog only once, because serializing is slow. */
export function computeCatalogVersions(catalog: CatalogFile): Readonly<Record<ApiKeyMode, string>> {
  const canonical = canonicalJson(catalog);
  return { live: hashCatalogVersion(canonical, 'live'), test: hashCatalogVersion(canonical, 'test') };
}

function hashCatalogVersion(canonical: string, mode: ApiKeyMode): string {
  return hash('sha256', mode + canonical, 'hex').slice(0, bounds.catalogVersionCharacters);
}

/** Serializes a value as JSON without whitespace and with sorted member names, so that equal values give the same text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
