import { hash } from 'node:crypto';
import { bounds } from '../bounds.ts';
import type { Mode } from '../domain/mode.ts';
import type { CatalogFile } from './catalog-schema.ts';

/** What an offer's id may be, as the text of a regular expression: it travels in addresses and ids without being escaped. */
export const offerIdPattern = `^[a-z0-9_-]{1,${bounds.offerIdCharactersMax}}$`;

export const catalogVersionPattern = new RegExp(`^[0-9a-f]{${bounds.catalogVersionCharacters}}$`);

/**
 * Names a catalog by its content: the head of a SHA-256 of its values, whatever their layout and order in the file. The
 * mode counts, since the same offers are worth nothing to a sandbox.
 */
export function catalogVersion(catalog: CatalogFile, mode: Mode): string {
  return hashCatalogVersion(canonicalJson(catalog), mode);
}

/** Its names in both modes, for little more than one of them costs. */
export function catalogVersionsByMode(catalog: CatalogFile): Readonly<Record<Mode, string>> {
  const canonical = canonicalJson(catalog);
  return { live: hashCatalogVersion(canonical, 'live'), test: hashCatalogVersion(canonical, 'test') };
}

function hashCatalogVersion(canonical: string, mode: Mode): string {
  return hash('sha256', mode + canonical, 'hex').slice(0, bounds.catalogVersionCharacters);
}

/** JSON without spaces, members in the order of their names: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
