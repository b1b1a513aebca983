import { assertKnownOptionNames, assertObject } from '../domain/assert-options.ts';
import type { Vertical } from '../domain/vertical.ts';
import { assertValidVertical } from './assert-vertical.ts';
import type { CatalogSource } from './parse-catalog.ts';
import type { VerticalRegistry } from './vertical-registry.ts';

/**
 * Checks the catalog sources. Throws a RangeError if a vertical does not have exactly one live and one test catalog, or if two verticals
 * have the same `segment`, `number` or `keyPrefix`. The content of each catalog is validated later, when the service reads the catalog.
 */
export function assertCatalogSources(sources: readonly CatalogSource[], registry: VerticalRegistry): void {
  if (!Array.isArray(sources) || sources.length === 0) throw new RangeError('catalogs must name at least one catalog');
  const served = new Map<string, Vertical>();
  const seen = new Set<string>();
  for (const [index, source] of sources.entries()) {
    assertObject(`catalogs[${index}]`, source);
    assertKnownOptionNames(`catalogs[${index}]`, source, ['vertical', 'mode', 'text', 'file']);
    const { vertical, mode, text, file } = source as CatalogSource & {
      readonly text?: unknown;
      readonly file?: unknown;
    };
    assertValidVertical(vertical, registry);
    if (mode !== 'live' && mode !== 'test') throw new RangeError(`catalogs[${index}].mode must be live or test`);
    if ([text, file].filter((from) => typeof from === 'string' && from !== '').length !== 1) {
      throw new RangeError(`catalogs[${index}] must have either text or file`);
    }
    const { segment, number, keyPrefix } = vertical;
    for (const other of served.values()) {
      const equalMembers = [other.segment === segment, other.number === number, other.keyPrefix === keyPrefix];
      if (new Set(equalMembers).size > 1) {
        throw new RangeError(
          `the verticals ${other.segment} and ${segment} must have different values of segment, number and keyPrefix`,
        );
      }
    }
    served.set(segment, vertical);
    if (seen.has(`${segment} ${mode}`))
      throw new RangeError(`catalogs must not contain two ${mode} catalogs for the vertical ${segment}`);
    seen.add(`${segment} ${mode}`);
  }
  for (const segment of served.keys()) {
    for (const mode of ['live', 'test']) {
      if (!seen.has(`${segment} ${mode}`))
        throw new RangeError(`catalogs must contain a ${mode} catalog for the vertical ${segment}`);
    }
  }
}
