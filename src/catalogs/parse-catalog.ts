import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { Settings } from 'typebox/system';
import { bounds } from '../bounds.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { CatalogErrors, type CatalogPath } from './catalog-errors.ts';
import type { CatalogFile } from './catalog-schema.ts';
import { catalogValidators } from './catalog-validators.ts';
import { validateSemantics } from './validate-semantics.ts';

/**
 * The text of a catalog file, or why there is none. A text in another encoding is refused: decoded leniently, a lender would
 * be shown under a name full of replacement characters.
 */
export function readCatalogText(file: string): { ok: true; text: string } | { ok: false; problem: string } {
  try {
    // Looked at first, so that a mistaken path to something huge is not read, and one to a pipe not waited for.
    const stats = statSync(file);
    if (!stats.isFile()) return { ok: false, problem: 'must be a file' };
    if (stats.size > bounds.catalogFileBytesMax) {
      return { ok: false, problem: `must be at most ${bounds.catalogFileBytesMax} bytes long` };
    }
    const bytes = readFileSync(file);
    // The file may have grown since.
    if (bytes.length > bounds.catalogFileBytesMax) {
      return { ok: false, problem: `must be at most ${bounds.catalogFileBytesMax} bytes long` };
    }
    if (!isUtf8(bytes))
      return { ok: false, problem: `must be UTF-8, which line ${firstInvalidUtf8Line(bytes)} is not` };
    // A byte order mark stays, to be named as what is wrong.
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    return { ok: false, problem: `cannot be read: ${(error as Error).message}` };
  }
}

/** The first line, from 1, that is not UTF-8. No character of several bytes contains one that looks like a line's end. */
function firstInvalidUtf8Line(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; ; line++) {
    const end = bytes.indexOf(0x0a, start);
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}

/**
 * Why a text is too large to be read as a catalog, or null. It is looked at character by character, before anything is made
 * of it: a value takes up to a hundred times its text once it is read, and an object with millions of members a quarter of a minute. An empty list or object counts as two values.
 */
function textSizeProblem(text: string): string | null {
  if (Buffer.byteLength(text) > bounds.catalogFileBytesMax) {
    return `must be at most ${bounds.catalogFileBytesMax} bytes long`;
  }
  let values = 1;
  // Of each list or object that is open, from the outside in: the members so far, or null in a list.
  const members: (number | null)[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) at = findStringEnd(text, at);
    else if (character === comma) {
      values++;
      const seen = members.at(-1) ?? null;
      if (seen === null) continue;
      members[members.length - 1] = seen + 1;
      if (seen === bounds.catalogObjectMembersMax) {
        return `must hold at most ${bounds.catalogObjectMembersMax} members in one object, which line ${lineNumberAt(text, at)} exceeds`;
      }
    } else if (character === openBracket || character === openBrace) {
      values++;
      members.push(character === openBrace ? 1 : null);
      if (members.length > bounds.catalogDepthMax) return `must be nested at most ${bounds.catalogDepthMax} deep`;
    } else if (character === closeBracket || character === closeBrace) members.pop();
    if (values > bounds.catalogValuesMax) return `must hold at most ${bounds.catalogValuesMax} values`;
  }
  return null;
}

function lineNumberAt(text: string, offset: number): number {
  let line = 1;
  for (let end = text.indexOf('\n'); end >= 0 && end < offset; end = text.indexOf('\n', end + 1)) line++;
  return line;
}

const [quote, backslash, comma, openBracket, closeBracket, openBrace, closeBrace] = [...'"\\,[]{}'].map((character) =>
  character.charCodeAt(0),
);

/** The index of the quote that ends a string, or of the text's end. */
function findStringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) return at;
    if (character === backslash) at++;
  }
  return text.length;
}

/**
 * Finds lists that hold more than any catalog needs, and too many offers. Meant to come before anything that
 * tells what is wrong with each value. The text must have passed `textSizeProblem`, whose bound on nesting is what lets
 * this walk call itself.
 */
function checkListSizes(value: unknown, faults: CatalogErrors): void {
  const { catalogOffersMax: offersMax, catalogListItemsMax: listMax } = bounds;
  const path: (string | number)[] = [];
  let offers = 0;
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    if (Array.isArray(part)) {
      const kind = listKind(path);
      if (kind === 'offers') offers += part.length;
      const most = kind === 'other' ? listMax : offersMax;
      // Too many offers are told once, of all lenders together.
      if (part.length > most && kind !== 'offers') {
        faults.add([...path], `must hold at most ${most} ${kind === 'lenders' ? 'lenders' : 'values'}`);
      }
      if (part.length > most) return;
      for (let at = 0; at < part.length; at++) step(at, part[at]);
      return;
    }
    for (const [name, member] of Object.entries(part)) step(name, member);
  };
  const step = (to: string | number, part: unknown) => {
    path.push(to);
    walk(part);
    path.pop();
  };
  walk(value);
  if (offers > offersMax) faults.add(['lenders'], `must hold at most ${offersMax} offers`);
}

function listKind(path: readonly (string | number)[]): 'lenders' | 'offers' | 'other' {
  if (path[0] !== 'lenders') return 'other';
  if (path.length === 1) return 'lenders';
  return path.length === 3 && path[2] === 'offers' ? 'offers' : 'other';
}

type ValidatedCatalog =
  | { readonly ok: true; readonly catalog: CatalogFile }
  | { readonly ok: false; readonly faults: CatalogErrors };

type ParsedCatalog =
  | { readonly ok: true; readonly catalog: CatalogFile }
  /** One line a fault, `path: what is wrong`, e.g. `lenders[0].offers[2].amount.min: must be >= 1`. */
  | { readonly ok: false; readonly faults: readonly string[] };

/** Parses and validates the text of a catalog file. A catalog that passes can be compiled without further checks. */
export function parseCatalog(text: string, vertical: Vertical): ParsedCatalog {
  const parsed = parseCatalogJson(text);
  const validated = parsed.ok ? validateCatalogValue(parsed.value, vertical) : parsed;
  return validated.ok ? validated : { ok: false, faults: validated.faults.toLines() };
}

/** Parses the text of a catalog file without validating it. Fails with one error if the text is too large or not JSON. */
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

/**
 * Validates a value from `parseCatalogJson`. Reports errors of shape and of semantics together, up to
 * `bounds.catalogErrorsReportedMax`, except for the semantics of an offer with a wrong shape. A list that is too long is the only
 * error reported.
 */
export function validateCatalogValue(value: unknown, vertical: Vertical): ValidatedCatalog {
  const faults = new CatalogErrors();
  checkListSizes(value, faults);
  if (faults.count > 0) return { ok: false, faults };
  const hasValidShape = catalogValidators(vertical).catalogValidator.Check(value);
  if (!hasValidShape) checkShape(value, vertical, faults);
  validateSemantics(value, vertical, faults);
  return hasValidShape && faults.count === 0 ? { ok: true, catalog: value as CatalogFile } : { ok: false, faults };
}

/** Stops when more errors were found than are reported. */
function checkShape(value: unknown, vertical: Vertical, faults: CatalogErrors): void {
  // The library stops at eight errors by default, and its limit can only be set for the whole process.
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: shapeErrorsMax });
  try {
    for (const { part, path, validator } of schemaParts(value, vertical)) {
      if (!validator.Check(part)) addShapeErrors(part, path, validator, faults);
      if (faults.isIncomplete) break;
    }
  } finally {
    Settings.Set({ maxErrors });
  }
}

// The library reports an unknown member twice: at its own path, and at that of the object around it.
const shapeErrorsMax = 2 * (bounds.catalogErrorsReportedMax + 1);

type PartValidator = ReturnType<typeof catalogValidators>['fileValidator'];

function* schemaParts(
  value: unknown,
  vertical: Vertical,
): Generator<{ part: unknown; path: CatalogPath; validator: PartValidator }> {
  const { fileValidator, lenderValidator, offerValidator } = catalogValidators(vertical);
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
