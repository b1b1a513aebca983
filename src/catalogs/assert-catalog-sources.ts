import { assertKnownNames, assertObject } from '../domain/assert-options.ts';
import { assertVertical } from '../verticals/assert-vertical.ts';
import type { Vertical } from '../verticals/vertical.ts';
import type { CatalogSource } from './catalog-store.ts';

/**
 * Throws a RangeError unless these are one live and one test catalog for each of some verticals that can be told apart. Whether a
 * catalog itself is sound shows when it is read.
 */
export function assertCatalogSources(sources: readonly CatalogSource[]): void {
  if (!Array.isArray(sources) || sources.length === 0) throw new RangeError('catalogs must name at least one catalog');
  const served = new Map<string, Vertical>();
  const given = new Set<string>();
  for (const [at, source] of sources.entries()) {
    assertObject(`catalogs[${at}]`, source);
    assertKnownNames(`catalogs[${at}]`, source, ['vertical', 'mode', 'text', 'file']);
    const { vertical, mode, text, file } = source as CatalogSource & {
      readonly text?: unknown;
      readonly file?: unknown;
    };
    assertVertical(vertical);
    if (mode !== 'live' && mode !== 'test') throw new RangeError(`catalogs[${at}].mode must be live or test`);
    if ([text, file].filter((from) => typeof from === 'string' && from !== '').length !== 1) {
      throw new RangeError(`catalogs[${at}] must have a text or the path of a file`);
    }
    const { segment, number, keyPrefix } = vertical;
    for (const other of served.values()) {
      const alike = [other.segment === segment, other.number === number, other.keyPrefix === keyPrefix];
      if (new Set(alike).size > 1) {
        throw new RangeError(`verticals must differ in segment, number and keyPrefix: ${other.segment}, ${segment}`);
      }
    }
    served.set(segment, vertical);
    if (given.has(`${segment} ${mode}`)) throw new RangeError(`catalogs must have one ${mode} catalog of ${segment}`);
    given.add(`${segment} ${mode}`);
  }
  for (const segment of served.keys()) {
    for (const mode of ['live', 'test']) {
      if (!given.has(`${segment} ${mode}`)) throw new RangeError(`catalogs must have a ${mode} catalog of ${segment}`);
    }
  }
}
