import { Settings } from 'typebox/system';
import { bounds } from '../bounds.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { CatalogFaults, type CatalogPath } from './catalog-faults.ts';
import {
  type CatalogFile,
  catalogValidator,
  fileValidator,
  lenderValidator,
  offerValidator,
} from './catalog-schema.ts';
import { findSenseFaults } from './catalog-sense.ts';
import { findSizeFaults, textSizeProblem } from './catalog-size.ts';

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
 * and those of sense together; only the sense of an offer whose shape is wrong is left unjudged, and everything else about a
 * file that holds too much. A catalog that passes can be compiled without checks.
 */
function inspectCatalog(text: string, vertical: Vertical): InspectedCatalog {
  const read = readCatalogValue(text);
  return read.ok ? judgeCatalog(read.value, vertical) : read;
}

/** What the text of a catalog file holds, whatever that is; not ok is one fault, of a text too large or no JSON. */
export function readCatalogValue(
  text: string,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly faults: CatalogFaults } {
  const unread = (problem: string) => {
    const faults = new CatalogFaults();
    faults.addUnread(problem);
    return { ok: false, faults } as const;
  };
  const tooLarge = textSizeProblem(text);
  if (tooLarge !== null) return unread(tooLarge);
  if (text.startsWith('\ufeff')) return unread('must not begin with a byte order mark');
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return unread(`is not JSON: ${(error as Error).message}`);
  }
}

/** As `inspectCatalog`, of what `readCatalogValue` has read. `onShare` is told now and then which share is done, from 0 to 1. */
export function judgeCatalog(value: unknown, vertical: Vertical, onShare?: (share: number) => void): InspectedCatalog {
  const faults = new CatalogFaults();
  findSizeFaults(value, faults);
  if (faults.count > 0) return { ok: false, faults };
  onShare?.(0.25);
  const sound = catalogValidator.Check(value);
  if (!sound) findShapeFaults(value, faults);
  onShare?.(0.5);
  findSenseFaults(value, vertical, faults, onShare && ((share) => onShare(0.5 + share / 2)));
  return sound && faults.count === 0 ? { ok: true, catalog: value as CatalogFile } : { ok: false, faults };
}

/** Looks no further once there are more than will ever be named. */
function findShapeFaults(value: unknown, faults: CatalogFaults): void {
  // The library stops at eight faults unless told otherwise, and can only be told for the whole process.
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: shapeErrorsMax });
  try {
    for (const { part, path, validator } of partsOf(value)) {
      if (!validator.Check(part)) addShapeFaults(part, path, validator, faults);
      if (faults.incomplete) break;
    }
  } finally {
    Settings.Set({ maxErrors });
  }
}

// A member that should not be there is reported twice: by its own path, and by that of the object around it.
const shapeErrorsMax = 2 * (bounds.catalogFaultsMax + 1);

interface PartValidator {
  Check(value: unknown): boolean;
  Errors(value: unknown): ReturnType<typeof offerValidator.Errors>;
}

function* partsOf(value: unknown): Generator<{ part: unknown; path: CatalogPath; validator: PartValidator }> {
  yield { part: value, path: [], validator: fileValidator };
  for (const [lenderAt, lender] of listOf(value, 'lenders').entries()) {
    const path = ['lenders', lenderAt];
    yield { part: lender, path, validator: lenderValidator };
    for (const [offerAt, offer] of listOf(lender, 'offers').entries()) {
      yield { part: offer, path: [...path, 'offers', offerAt], validator: offerValidator };
    }
  }
}

function listOf(value: unknown, member: string): readonly unknown[] {
  const list = (value as Record<string, unknown> | null | undefined)?.[member];
  return Array.isArray(list) ? list : [];
}

function addShapeFaults(part: unknown, path: CatalogPath, validator: PartValidator, faults: CatalogFaults): void {
  const errors = validator.Errors(part);
  for (const error of errors) {
    if (error.keyword === 'additionalProperties') continue;
    const problem = error.keyword === 'boolean' ? 'is not a member of the format' : error.message;
    faults.add([...path, ...pathOf(error.instancePath, part)], problem);
  }
  faults.incomplete = errors.length >= shapeErrorsMax || faults.count >= shapeErrorsMax;
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
