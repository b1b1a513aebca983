import { hash } from 'node:crypto';
import { bounds } from '../bounds.ts';
import type { Mode } from '../domain/mode.ts';
import type { CatalogFile } from './catalog-schema.ts';

export const catalogVersionPattern = new RegExp(`^[0-9a-f]{${bounds.catalogVersionCharacters}}$`);

/**
 * Names a catalog by its content: the head of a SHA-256 of its values, whatever their layout and order in the file. The
 * mode counts, since the same offers are worth nothing to a sandbox.
 */
export function catalogVersion(catalog: CatalogFile, mode: Mode): string {
  return hash('sha256', mode + canonicalJson(catalog), 'hex').slice(0, bounds.catalogVersionCharacters);
}

/** JSON without spaces, members in the order of their names: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
