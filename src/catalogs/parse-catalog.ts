import { isUtf8 } from 'node:buffer';
import { Settings } from 'typebox/system';
import { bounds } from '../bounds.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import type { Vertical } from '../domain/vertical.ts';
import { readRegularFile } from '../files/regular-file.ts';
import { CatalogErrors, type CatalogValuePath } from './catalog-errors.ts';
import type { CatalogFile } from './catalog-schema.ts';
import type { VerticalProduct, VerticalWithProduct } from './product.ts';
import { catalogValidators, checkBudgetsCoverClicks, validateSemantics } from './validate-catalog.ts';

/** Reads the text of a catalog file. Fails if the file is not UTF-8, is too large or cannot be read. */
export function readCatalogText(file: string): { ok: true; text: string } | { ok: false; problem: string } {
  const read = readRegularFile(file, bounds.catalogFileBytesMax);
  if (!read.ok) return read;
  const { bytes } = read;
  if (!isUtf8(bytes)) return { ok: false, problem: `must be UTF-8, but line ${firstInvalidUtf8Line(bytes)} is not` };
  // A byte order mark is kept in the text, so that `parseCatalogJson` can report the byte order mark as an error.
  return { ok: true, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
}

const tooLongProblem = `must be at most ${bounds.catalogFileBytesMax} bytes long`;

/** Returns the number (from 1) of the first line that is not UTF-8. In UTF-8, no other character contains the line feed byte. */
function firstInvalidUtf8Line(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; ; line++) {
    const end = bytes.indexOf(0x0a, start);
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}

/**
 * Returns the reason why a JSON text is too large to be parsed, or null. The text is scanned before it is parsed, because parsing a text
 * with too many values takes too much time and memory. Values are counted by commas and opening brackets, so an empty list or object counts
 * as two values.
 */
function textSizeProblem(text: string): string | null {
  if (Buffer.byteLength(text) > bounds.catalogFileBytesMax) return tooLongProblem;
  let values = 1;
  // One entry for each open object or list, outermost first: the number of members read so far in an object, or null for a list.
  const members: (number | null)[] = [];
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (character === quote) index = findStringEnd(text, index);
    else if (character === comma) {
      values++;
      const seen = members.at(-1) ?? null;
      if (seen === null) continue;
      members[members.length - 1] = seen + 1;
      if (seen === bounds.catalogObjectMembersMax) {
        return `must contain at most ${bounds.catalogObjectMembersMax} members in one object, which line ${lineNumberAt(text, index)} exceeds`;
      }
    } else if (character === openBracket || character === openBrace) {
      values++;
      members.push(character === openBrace ? 1 : null);
      if (members.length > bounds.catalogDepthMax) return `must be nested at most ${bounds.catalogDepthMax} deep`;
    } else if (character === closeBracket || character === closeBrace) members.pop();
    if (values > bounds.catalogValuesMax) return `must contain at most ${bounds.catalogValuesMax} values`;
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

/** Returns the index of the closing quote, or the length of the text if there is no closing quote. */
function findStringEnd(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (character === quote) return index;
    if (character === backslash) index++;
  }
  return text.length;
}

/**
 * Reports lists that are too long, and a catalog with too many offers. List sizes are checked before schema validation, so that the items
 * of a very long list are not validated. The recursion cannot overflow the stack, because `textSizeProblem` limits the nesting depth.
 */
function checkListSizes(value: unknown, errors: CatalogErrors): void {
  const { catalogOffersMax: offersMax, catalogListItemsMax: listMax } = bounds;
  const path: (string | number)[] = [];
  let offers = 0;
  const checkSizesRecursively = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    if (Array.isArray(part)) {
      const kind = listKind(path);
      if (kind === 'offers') offers += part.length;
      const maxLength = kind === 'other' ? listMax : offersMax;
      // The total number of offers is checked at the end of `checkListSizes`.
      if (part.length > maxLength && kind !== 'offers') {
        errors.add([...path], `must contain at most ${maxLength} ${kind === 'lenders' ? 'lenders' : 'values'}`);
      }
      if (part.length > maxLength) return;
      for (let index = 0; index < part.length; index++) step(index, part[index]);
      return;
    }
    for (const [name, member] of Object.entries(part)) step(name, member);
  };
  const step = (to: string | number, part: unknown) => {
    path.push(to);
    checkSizesRecursively(part);
    path.pop();
  };
  checkSizesRecursively(value);
  if (offers > offersMax) errors.add(['lenders'], `must contain at most ${offersMax} offers`);
}

function listKind(path: readonly (string | number)[]): 'lenders' | 'offers' | 'other' {
  if (path[0] !== 'lenders') return 'other';
  if (path.length === 1) return 'lenders';
  return path.length === 3 && path[2] === 'offers' ? 'offers' : 'other';
}

type CatalogResult<Errors> =
  | { readonly ok: true; readonly catalog: CatalogFile; readonly warnings: Errors }
  | { readonly ok: false; readonly errors: Errors };

/** A valid catalog with its warnings, or errors, of one line each, such as `lenders[0].offers[2].amount.min: must be >= 1`. */
export type ParsedCatalog = CatalogResult<readonly string[]>;

export type CatalogText = { readonly text: string } | { readonly file: string };

/** Source of the catalog for a vertical and mode: the text of the catalog or the path of its file. */
export type CatalogSource = { readonly vertical: Vertical; readonly mode: ApiKeyMode } & CatalogText;

/** Reads a catalog and parses the text with `parseCatalog`. */
export function parseCatalogSource(
  source: CatalogText,
  vertical: VerticalWithProduct,
  today: number | undefined,
  isStored = false,
): ParsedCatalog {
  const read = 'text' in source ? ({ ok: true, text: source.text } as const) : readCatalogText(source.file);
  return read.ok
    ? parseCatalog(read.text, vertical, today, isStored)
    : { ok: false, errors: [`catalog: ${read.problem}`] };
}

/**
 * Parses and validates the text of a catalog file. The returned catalog can be compiled without further checks.
 *
 * @param today current UTC day in days since the Unix epoch, to reject offers whose `as_of` is in the future; without this parameter,
 * `as_of` can be any date
 * @param isStored whether the catalog is in the archive of the data folder, so that rules of later versions cause only warnings
 */
export function parseCatalog(
  text: string,
  vertical: VerticalWithProduct,
  today?: number,
  isStored = false,
): ParsedCatalog {
  const parsed = parseCatalogJson(text);
  const validated = parsed.ok ? validateCatalogValue(parsed.value, vertical, today, isStored) : parsed;
  return validated.ok
    ? { ...validated, warnings: validated.warnings.formatWarningLines() }
    : { ok: false, errors: validated.errors.formatErrorLines() };
}

/** Parses the text of a catalog file without validating it. Fails with one error if the text is too large or not JSON. */
export function parseCatalogJson(
  text: string,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly errors: CatalogErrors } {
  const unread = (problem: string) => {
    const errors = new CatalogErrors();
    errors.addParseError(problem);
    return { ok: false, errors } as const;
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
 * Validates a value from `parseCatalogJson`. Reports schema errors and semantic errors, up to `bounds.catalogErrorsReportedMax`. If an
 * offer has schema errors, the semantics of the offer are not validated. If any list is too long, reports only the lists that are too long.
 */
export function validateCatalogValue(
  value: unknown,
  vertical: VerticalWithProduct,
  today: number = Number.POSITIVE_INFINITY,
  isStored = false,
): CatalogResult<CatalogErrors> {
  const errors = new CatalogErrors(isStored);
  checkListSizes(value, errors);
  if (errors.count > 0) return { ok: false, errors };
  const hasValidShape = catalogValidators(vertical.product).catalogValidator.Check(value);
  if (!hasValidShape) checkShape(value, vertical.product, errors);
  validateSemantics(value, vertical, today, errors);
  if (hasValidShape && errors.count === 0) checkBudgetsCoverClicks(value as CatalogFile, vertical, errors);
  return hasValidShape && errors.count === 0
    ? { ok: true, catalog: value as CatalogFile, warnings: errors }
    : { ok: false, errors };
}

/** Validates a catalog against the schema. Stops when `errors.isIncomplete` is true. */
function checkShape(value: unknown, product: VerticalProduct, errors: CatalogErrors): void {
  // By default, TypeBox stops after eight errors. `maxErrors` is a global setting of TypeBox, so its old value is restored afterwards.
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: shapeErrorsMax });
  try {
    for (const { part, path, validator } of schemaParts(value, product)) {
      if (!validator.Check(part)) addShapeErrors(part, path, validator, errors);
      if (errors.isIncomplete) break;
    }
  } finally {
    Settings.Set({ maxErrors });
  }
}

// TypeBox reports an unknown member twice: at the path of the member and at the path of its parent object.
const shapeErrorsMax = 2 * (bounds.catalogErrorsReportedMax + 1);

type PartValidator = ReturnType<typeof catalogValidators>['fileValidator'];

function* schemaParts(
  value: unknown,
  product: VerticalProduct,
): Generator<{ part: unknown; path: CatalogValuePath; validator: PartValidator }> {
  const { fileValidator, lenderValidator, offerValidator } = catalogValidators(product);
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

function addShapeErrors(part: unknown, path: CatalogValuePath, validator: PartValidator, errors: CatalogErrors): void {
  const shapeErrors = validator.Errors(part);
  for (const error of shapeErrors) {
    if (error.keyword === 'additionalProperties') continue;
    const problem = error.keyword === 'boolean' ? 'is not a member of the format' : error.message;
    errors.add([...path, ...pathFromPointer(error.instancePath, part)], problem);
  }
  errors.isIncomplete = shapeErrors.length >= shapeErrorsMax || errors.count >= shapeErrorsMax;
}

/** Converts a JSON pointer into a path in `value`. In the path, array indexes are numbers and member names are strings. */
function pathFromPointer(pointer: string, value: unknown): CatalogValuePath {
  const path: (string | number)[] = [];
  let part = value;
  for (const escaped of pointer.split('/').slice(1)) {
    const step = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(part) ? Number(step) : step);
    part = typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[step] : undefined;
  }
  return path;
}
