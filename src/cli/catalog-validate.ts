import { bounds } from '../bounds.ts';
import { logoFolder, readLogos } from '../logos/read-logos.ts';
import { type CatalogError, CatalogErrors, type CatalogPath, formatPath } from '../offers/catalog-faults.ts';
import type { CatalogFile } from '../offers/catalog-schema.ts';
import { summarizeCatalog, readCatalogFile, readSteps } from './catalog-file.ts';
import { CommandLineError } from './command-line-error.ts';
import { JsonPositions, type TextPosition } from './json-places.ts';
import { printJson, printChunk } from './output.ts';
import { progressStreamFor } from './progress-stream.ts';
import { createSteppedProgress } from './stepped-progress.ts';

interface LocatedError {
  readonly path: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly problem: string;
}

export async function validateCatalogFile(file: string, options: { readonly json?: true }): Promise<void> {
  const { named, rest, summary, notes } = await findErrors(file, options);
  if (options.json) {
    const found = { faults: named, rest, notes };
    printJson({ file, valid: named.length === 0, ...summary, ...found });
  } else if (named.length > 0) {
    await printChunk([...named.map((fault) => formatErrorLine(file, fault)), ...(rest === null ? [] : [rest])].join('\n'));
  } else if (summary !== null) {
    const { offers, lenders, vertical, versions } = summary;
    await printChunk(
      `${file} is valid: ${offers} offers of ${lenders} lenders for ${vertical}; version ${versions.live} for live keys, ${versions.test} for test keys`,
    );
    if (notes.length > 0) await printChunk(notes.map((note) => formatNoteLine(file, note)).join('\n'));
  }
  if (named.length > 0) {
    const unnamed = rest === null ? '' : ` ${rest}`;
    throw new CommandLineError(
      `${file} is no valid catalog: ${named.length} ${named.length === 1 ? 'fault' : 'faults'}${unnamed}`,
    );
  }
}

const validationSteps = { ...readSteps, find_places: 8, name_versions: 7, look_at_logos: 7 } as const;

async function findErrors(file: string, options: { readonly json?: true }) {
  const progress = createSteppedProgress(progressStreamFor(options), validationSteps);
  try {
    const { text, catalog, faults } = readCatalogFile(file, progress);
    const places = locateErrors(text, faults ?? new CatalogErrors(), (share) => progress.update('find_places', share));
    progress.update('name_versions');
    const summary = catalog === null ? null : summarizeCatalog(catalog);
    progress.update('look_at_logos');
    const notes = catalog === null || places.named.length > 0 ? [] : await findLogoNotes(file, text, catalog);
    return { ...places, summary, notes };
  } finally {
    progress.clear();
  }
}

/** The faults of a text with their places, in its order, up to `bounds.catalogFaultsMax`; and what is said of the rest. */
function locateErrors(
  text: string,
  faults: CatalogErrors,
  onShare: (share: number) => void,
): { named: LocatedError[]; rest: string | null } {
  const places = new JsonPositions(text);
  if (faults.isUnreadable) {
    const named = faults.listed.map((fault) =>
      toLocatedError(fault, fault.problem.startsWith('is not JSON') ? places.syntaxErrorPosition(fault.problem) : places.positionAt(0)),
    );
    return { named, rest: null };
  }
  const found = places.locate(
    faults.listed.map(({ path }) => path),
    bounds.catalogErrorsReportedMax - faults.listed.length,
    onShare,
  );
  const named = faults.listed.map((fault, at) => toLocatedError(fault, found.places[at]!));
  // Only the last of them counts, so that the others are criteria or prices that somebody believes to hold.
  const problem = 'is there more than once in the same object';
  named.push(...found.repeated.reported.map(({ path, place }) => toLocatedError({ path, problem }, place)));
  const rest = faults.omittedText(found.repeated.count - found.repeated.reported.length);
  return { named: named.sort(byPosition), rest };
}

/** What does not keep a catalog from being used: lenders that are shown by a monogram. */
async function findLogoNotes(file: string, text: string, { lenders }: CatalogFile): Promise<LocatedError[]> {
  const { problems, folderFound } = await readLogos(logoFolder(file), lenders);
  if (!folderFound) {
    const problem = 'there is no folder logos beside the file, so a monogram is shown for every lender';
    return [toLocatedError({ path: ['lenders'], problem }, positionsOf(text, [['lenders']])[0]!)];
  }
  const told = problems.slice(0, bounds.catalogErrorsReportedMax);
  const paths = told.map(({ lenderIndex }) => ['lenders', lenderIndex, 'logo']);
  const places = positionsOf(text, paths);
  const notes = told.map(({ file: logo, problem: why }, at) =>
    toLocatedError({ path: paths[at]!, problem: `logos/${logo} ${why}, so a monogram is shown` }, places[at]!),
  );
  const more = problems.length - told.length;
  if (more > 0) notes.push(toLocatedError({ path: ['lenders'], problem: `and ${more} more logos` }, null));
  return notes;
}

function positionsOf(text: string, paths: CatalogPath[]): (TextPosition | null)[] {
  return new JsonPositions(text).locate(paths, 0).places;
}

function toLocatedError({ path, problem }: CatalogError, place: TextPosition | null): LocatedError {
  return { path: formatPath(path), line: place?.line ?? null, column: place?.column ?? null, problem };
}

function byPosition(one: LocatedError, other: LocatedError): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);
}

/** As compilers write it, so that editors and terminals can jump there. */
function formatErrorLine(file: string, { path, line, column, problem }: LocatedError): string {
  return `${file}${line === null ? '' : `:${line}:${column}`}: ${path}: ${problem}`;
}

function formatNoteLine(file: string, note: LocatedError): string {
  return formatErrorLine(file, { ...note, path: `note: ${note.path}` });
}
