import { bounds } from '../bounds.ts';
import { logoFolder, readLogos } from '../logos/read-logos.ts';
import { type CatalogFault, CatalogFaults, type CatalogPath, pathText } from '../offers/catalog-faults.ts';
import type { CatalogFile } from '../offers/catalog-schema.ts';
import { catalogSummary, readCatalog, readingSteps } from './catalog-file.ts';
import { CommandLineError } from './command-line-error.ts';
import { JsonPlaces, type Place } from './json-places.ts';
import { printJson, printPart } from './output.ts';
import { progressStream } from './progress-stream.ts';
import { steppedProgress } from './stepped-progress.ts';

interface LocatedFault {
  readonly path: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly problem: string;
}

export async function validateCatalog(file: string, options: { readonly json?: true }): Promise<void> {
  const { named, rest, summary, notes } = await findings(file, options);
  if (options.json) {
    const found = { faults: named, rest, notes };
    printJson({ file, valid: named.length === 0, ...summary, ...found });
  } else if (named.length > 0) {
    await printPart([...named.map((fault) => faultLine(file, fault)), ...(rest === null ? [] : [rest])].join('\n'));
  } else if (summary !== null) {
    const { offers, lenders, vertical, versions } = summary;
    await printPart(
      `${file} is valid: ${offers} offers of ${lenders} lenders for ${vertical}; version ${versions.live} for live keys, ${versions.test} for test keys`,
    );
    if (notes.length > 0) await printPart(notes.map((note) => noteLine(file, note)).join('\n'));
  }
  if (named.length > 0) {
    const unnamed = rest === null ? '' : ` ${rest}`;
    throw new CommandLineError(
      `${file} is no valid catalog: ${named.length} ${named.length === 1 ? 'fault' : 'faults'}${unnamed}`,
    );
  }
}

const steps = { ...readingSteps, find_places: 8, name_versions: 7, look_at_logos: 7 } as const;

async function findings(file: string, options: { readonly json?: true }) {
  const progress = steppedProgress(progressStream(options), steps);
  try {
    const { text, catalog, faults } = readCatalog(file, progress);
    const places = locatedFaults(text, faults ?? new CatalogFaults(), (share) => progress.at('find_places', share));
    progress.at('name_versions');
    const summary = catalog === null ? null : catalogSummary(catalog);
    progress.at('look_at_logos');
    const notes = catalog === null || places.named.length > 0 ? [] : await logoNotes(file, text, catalog);
    return { ...places, summary, notes };
  } finally {
    progress.done();
  }
}

/** The faults of a text with their places, in its order, up to `bounds.catalogFaultsMax`; and what is said of the rest. */
function locatedFaults(
  text: string,
  faults: CatalogFaults,
  onShare: (share: number) => void,
): { named: LocatedFault[]; rest: string | null } {
  const places = new JsonPlaces(text);
  if (faults.unread) {
    const named = faults.named.map((fault) =>
      located(fault, fault.problem.startsWith('is not JSON') ? places.ofSyntaxError(fault.problem) : places.at(0)),
    );
    return { named, rest: null };
  }
  const found = places.find(
    faults.named.map(({ path }) => path),
    bounds.catalogFaultsMax - faults.named.length,
    onShare,
  );
  const named = faults.named.map((fault, at) => located(fault, found.places[at]!));
  // Only the last of them counts, so that the others are criteria or prices that somebody believes to hold.
  const problem = 'is there more than once in the same object';
  named.push(...found.repeated.named.map(({ path, place }) => located({ path, problem }, place)));
  const rest = faults.rest(found.repeated.count - found.repeated.named.length);
  return { named: named.sort(byPlace), rest };
}

/** What does not keep a catalog from being used: lenders that are shown by a monogram. */
async function logoNotes(file: string, text: string, { lenders }: CatalogFile): Promise<LocatedFault[]> {
  const { problems, folderFound } = await readLogos(logoFolder(file), lenders);
  if (!folderFound) {
    const problem = 'there is no folder logos beside the file, so a monogram is shown for every lender';
    return [located({ path: ['lenders'], problem }, placesOf(text, [['lenders']])[0]!)];
  }
  const told = problems.slice(0, bounds.catalogFaultsMax);
  const paths = told.map(({ lender }) => ['lenders', lender, 'logo']);
  const places = placesOf(text, paths);
  const notes = told.map(({ file: logo, problem: why }, at) =>
    located({ path: paths[at]!, problem: `logos/${logo} ${why}, so a monogram is shown` }, places[at]!),
  );
  const more = problems.length - told.length;
  if (more > 0) notes.push(located({ path: ['lenders'], problem: `and ${more} more logos` }, null));
  return notes;
}

function placesOf(text: string, paths: CatalogPath[]): (Place | null)[] {
  return new JsonPlaces(text).find(paths, 0).places;
}

function located({ path, problem }: CatalogFault, place: Place | null): LocatedFault {
  return { path: pathText(path), line: place?.line ?? null, column: place?.column ?? null, problem };
}

function byPlace(one: LocatedFault, other: LocatedFault): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);
}

/** As compilers write it, so that editors and terminals can jump there. */
function faultLine(file: string, { path, line, column, problem }: LocatedFault): string {
  return `${file}${line === null ? '' : `:${line}:${column}`}: ${path}: ${problem}`;
}

function noteLine(file: string, note: LocatedFault): string {
  return faultLine(file, { ...note, path: `note: ${note.path}` });
}
