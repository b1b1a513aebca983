import { Settings } from 'typebox/system';
import { bounds } from '../bounds.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { CatalogErrors, type CatalogPath } from './catalog-faults.ts';
import {
  type CatalogFile,
  catalogValidator,
  fileValidator,
  lenderValidator,
  offerValidator,
} from './catalog-schema.ts';
import { validateSemantics } from './catalog-sense.ts';
import { checkListSizes, textSizeProblem } from './catalog-size.ts';

export type ValidatedCatalog =
  | { readonly ok: true; readonly catalog: CatalogFile }
  | { readonly ok: false; readonly faults: CatalogErrors };

export type ParsedCatalog =
  | { readonly ok: true; readonly catalog: CatalogFile }
  /** One line a fault, `path: what is wrong`, e.g. `lenders[0].offers[2].amount.min: must be >= 1`. */
  | { readonly ok: false; readonly faults: readonly string[] };

/** As `parseAndValidate`, with the faults in words. */
export function parseCatalog(text: string, vertical: Vertical): ParsedCatalog {
  const inspected = parseAndValidate(text, vertical);
  return inspected.ok ? inspected : { ok: false, faults: inspected.faults.toLines() };
}

/**
 * Reads the text of a catalog file for one vertical. Every fault is named up to `bounds.catalogFaultsMax`, those of shape
 * and those of sense together; only the sense of an offer whose shape is wrong is left unjudged, and everything else about a
 * file that holds too much. A catalog that passes can be compiled without checks.
 */
function parseAndValidate(text: string, vertical: Vertical): ValidatedCatalog {
  const read = parseCatalogJson(text);
  return read.ok ? validateCatalogValue(read.value, vertical) : read;
}

/** What the text of a catalog file holds, whatever that is; not ok is one fault, of a text too large or no JSON. */
export function parseCatalogJson(
  text: string,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly faults: CatalogErrors } {
  const unread = (problem: string) => {
    const faults = new CatalogErrors();
    faults.addUnreadable(problem);
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

/** As `parseAndValidate`, of what `parseCatalogJson` has read. `onShare` is told now and then which share is done, from 0 to 1. */
export function validateCatalogValue(value: unknown, vertical: Vertical, onShare?: (share: number) => void): ValidatedCatalog {
  const faults = new CatalogErrors();
  checkListSizes(value, faults);
  if (faults.count > 0) return { ok: false, faults };
  onShare?.(0.25);
  const sound = catalogValidator.Check(value);
  if (!sound) checkShape(value, faults);
  onShare?.(0.5);
  validateSemantics(value, vertical, faults, onShare && ((share) => onShare(0.5 + share / 2)));
  return sound && faults.count === 0 ? { ok: true, catalog: value as CatalogFile } : { ok: false, faults };
}

/** Looks no further once there are more than will ever be named. */
function checkShape(value: unknown, faults: CatalogErrors): void {
  // The library stops at eight faults unless told otherwise, and can only be told for the whole process.
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: shapeErrorsMax });
  try {
    for (const { part, path, validator } of schemaParts(value)) {
      if (!validator.Check(part)) addShapeErrors(part, path, validator, faults);
      if (faults.isIncomplete) break;
    }
  } finally {
    Settings.Set({ maxErrors });
  }
}

// A member that should not be there is reported twice: by its own path, and by that of the object around it.
const shapeErrorsMax = 2 * (bounds.catalogErrorsReportedMax + 1);

interface PartValidator {
  Check(value: unknown): boolean;
  Errors(value: unknown): ReturnType<typeof offerValidator.Errors>;
}

function* schemaParts(value: unknown): Generator<{ part: unknown; path: CatalogPath; validator: PartValidator }> {
  yield { part: value, path: [], validator: fileValidator };
  for (const [lenderAt, lender] of arrayMember(value, 'lenders').entries()) {
    const path = ['lenders', lenderAt];
    yield { part: lender, path, validator: lenderValidator };
    for (const [offerAt, offer] of arrayMember(lender, 'offers').entries()) {
      yield { part: offer, path: [...path, 'offers', offerAt], validator: offerValidator };
    }
  }
}

function arrayMember(value: unknown, member: string): readonly unknown[] {
  const list = (value as Record<string, unknown> | null | undefined)?.[member];
  return Array.isArray(list) ? list : [];
}

function addShapeErrors(part: unknown, path: CatalogPath, validator: PartValidator, faults: CatalogErrors): void {
  const errors = validator.Errors(part);
  for (const error of errors) {
    if (error.keyword === 'additionalProperties') continue;
    const problem = error.keyword === 'boolean' ? 'is not a member of the format' : error.message;
    faults.add([...path, ...pathFromPointer(error.instancePath, part)], problem);
  }
  faults.isIncomplete = errors.length >= shapeErrorsMax || faults.count >= shapeErrorsMax;
}

/** The path of a JSON pointer into the value, which alone tells an index from a member of that name. */
function pathFromPointer(pointer: string, value: unknown): CatalogPath {
  const path: (string | number)[] = [];
  let part = value;
  for (const escaped of pointer.split('/').slice(1)) {
    const step = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(part) ? Number(step) : step);
    part = typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[step] : undefined;
  }
  return path;
}
