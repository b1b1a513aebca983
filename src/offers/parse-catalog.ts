import { Settings } from 'typebox/system';
import { bounds } from '../bounds.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { CatalogFaults, type CatalogPath } from './catalog-faults.ts';
import { type CatalogFile, catalogValidator } from './catalog-schema.ts';
import { findSenseFaults } from './catalog-sense.ts';

export type InspectedCatalog =
  | { readonly ok: true; readonly catalog: CatalogFile }
  | { readonly ok: false; readonly faults: CatalogFaults };

export type ParsedCatalog =
  | { readonly ok: true; readonly catalog: CatalogFile }
  /** One line a fault, `path: what is wrong`, e.g. `lenders[0].offers[2].amount.min: must be >= 1`. */
  | { readonly ok: false; readonly faults: readonly string[] };

/** As `inspectCatalog`, with the faults in words. */
export function parseCatalog(text: string, vertical: Vertical): ParsedCatalog {
  const inspected = inspectCatalog(text, vertical);
  return inspected.ok ? inspected : { ok: false, faults: inspected.faults.lines() };
}

/**
 * Reads the text of a catalog file for one vertical. Every fault is named up to `bounds.catalogFaultsMax`, those of shape
 * and those of sense together; only the sense of an offer whose shape is wrong is left unjudged. A catalog that passes can
 * be compiled without checks.
 */
export function inspectCatalog(text: string, vertical: Vertical): InspectedCatalog {
  const faults = new CatalogFaults();
  if (Buffer.byteLength(text) > bounds.catalogFileBytesMax) {
    faults.add([], `must be at most ${bounds.catalogFileBytesMax} bytes long`);
    return { ok: false, faults };
  }
  if (text.startsWith('\ufeff')) {
    faults.add([], 'must not begin with a byte order mark');
    return { ok: false, faults };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    faults.add([], `is not JSON: ${(error as Error).message}`);
    return { ok: false, faults };
  }
  const sound = catalogValidator.Check(value);
  if (!sound) findShapeFaults(value, faults);
  findSenseFaults(value, vertical, faults);
  return sound && faults.count === 0 ? { ok: true, catalog: value as CatalogFile } : { ok: false, faults };
}

function findShapeFaults(value: unknown, faults: CatalogFaults): void {
  // The library stops at eight faults unless told otherwise, and can only be told for the whole process.
  const { maxErrors } = Settings.Get();
  // A member that should not be there is reported twice: by its own path, and by that of the object around it.
  const errorsMax = 2 * (bounds.catalogFaultsMax + 1);
  Settings.Set({ maxErrors: errorsMax });
  try {
    const errors = catalogValidator.Errors(value);
    faults.incomplete = errors.length >= errorsMax;
    for (const error of errors) {
      if (error.keyword === 'additionalProperties') continue;
      const path = pathOf(error.instancePath, value);
      if (error.keyword === 'boolean') faults.add(path, 'is not a member of the format');
      else faults.add(path, error.message);
    }
  } finally {
    Settings.Set({ maxErrors });
  }
}

/** The path of a JSON pointer into the value, which alone tells an index from a member of that name. */
function pathOf(pointer: string, value: unknown): CatalogPath {
  const path: (string | number)[] = [];
  let part = value;
  for (const escaped of pointer.split('/').slice(1)) {
    const step = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(part) ? Number(step) : step);
    part = typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[step] : undefined;
  }
  return path;
}
