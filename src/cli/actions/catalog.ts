import { bounds } from '../../bounds.ts';
import { type CatalogError, CatalogErrors, type CatalogPath, formatPath } from '../../catalogs/catalog-errors.ts';
import type { CatalogFile } from '../../catalogs/catalog-schema.ts';
import { catalogVersionsByMode } from '../../catalogs/identifiers.ts';
import { parseCatalogJson, readCatalogText, validateCatalogValue } from '../../catalogs/parse-catalog.ts';
import { logoFolder, readLogos } from '../../catalogs/read-logos.ts';
import {
  type BandStatistics,
  type CatalogStatistics,
  computeCatalogStatistics,
  type FieldCoverage,
  type NumberSummary,
} from '../../verticals/personal-loans/catalog-statistics.ts';
import type { LoanCatalog } from '../../verticals/personal-loans/offer-schema.ts';
import { servedVerticals } from '../../verticals/registry.ts';
import type { Vertical } from '../../verticals/vertical.ts';
import { CommandLineError } from '../command-line-error.ts';
import { formatNameValues, formatTable, printChunk, printJson, printResult } from '../output.ts';
import { createSteppedProgress, progressStreamFor, type SteppedProgress } from '../progress-bar.ts';
import { JsonPositions, type TextPosition } from './json-positions.ts';

/** A catalog file that a command was given: its text, and what became of reading it. */
type CatalogReadResult = { readonly text: string; readonly vertical: Vertical } & (
  | { readonly catalog: CatalogFile; readonly faults: null }
  | { readonly catalog: null; readonly faults: CatalogErrors }
);

/** The steps of `readCatalogFile`, with the tenths of a second that the largest catalog takes. */
const readSteps = { read: 7, judge: 8 } as const;

/** Reads it for the vertical it names itself. Throws `CommandLineError` when the file cannot be read. */
function readCatalogFile(file: string, progress: SteppedProgress<keyof typeof readSteps>): CatalogReadResult {
  const read = readCatalogText(file);
  if (!read.ok) throw new CommandLineError(`${file} ${read.problem}`);
  const { text } = read;
  const parsed = parseCatalogJson(text);
  progress.update('judge');
  const vertical = verticalOfCatalog(parsed.ok ? parsed.value : null);
  const inspected = parsed.ok ? validateCatalogValue(parsed.value, vertical) : parsed;
  return inspected.ok
    ? { text, vertical, catalog: inspected.catalog, faults: null }
    : { text, vertical, catalog: null, faults: inspected.errors };
}

/** How much a valid catalog holds, and the names it goes by in answers and in the log. */
function summarizeCatalog(catalog: CatalogFile) {
  return {
    vertical: catalog.vertical,
    lenders: catalog.lenders.length,
    offers: catalog.lenders.reduce((sum, { offers }) => sum + offers.length, 0),
    versions: catalogVersionsByMode(catalog),
  };
}

/** What is not served, or cannot be told, is judged as the first vertical, and so found faulty. */
function verticalOfCatalog(value: unknown): Vertical {
  const named = (value as { vertical?: unknown } | null)?.vertical;
  return servedVerticals.find(({ segment }) => segment === named) ?? servedVerticals[0]!;
}

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
    await printChunk(
      [...named.map((fault) => formatErrorLine(file, fault)), ...(rest === null ? [] : [rest])].join('\n'),
    );
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
      toLocatedError(
        fault,
        fault.problem.startsWith('is not JSON') ? places.syntaxErrorPosition(fault.problem) : places.positionAt(0),
      ),
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

export function printCatalogStats(file: string, options: { readonly json?: true }): void {
  const { summary, described } = computeCatalogStats(file, options);
  if (options.json) printJson({ file, ...summary, ...described });
  else printResult(formatCatalogStats(file, summary, described));
}

const statsSteps = { ...readSteps, name_versions: 7, describe: 34 } as const;

function computeCatalogStats(file: string, options: { readonly json?: true }) {
  const progress = createSteppedProgress(progressStreamFor(options), statsSteps);
  try {
    const { catalog, vertical, faults } = readCatalogFile(file, progress);
    if (catalog === null) {
      const count = `${faults.count} ${faults.count === 1 ? 'fault' : 'faults'}`;
      throw new CommandLineError(`${file} is no valid catalog: ${count}, which marketplace catalog validate names`);
    }
    progress.update('name_versions');
    const summary = summarizeCatalog(catalog);
    const described = computeCatalogStatistics(catalog as LoanCatalog, vertical);
    return { summary, described };
  } finally {
    progress.clear();
  }
}

function formatCatalogStats(
  file: string,
  { vertical, versions }: ReturnType<typeof summarizeCatalog>,
  described: CatalogStatistics,
): string {
  const { lenders, offers, term_months, payouts, never_shown } = described;
  const paid = (['cost_per_lead', 'cost_per_click'] as const)
    .filter((model) => payouts[model].offers > 0)
    .map((model) => `${payouts[model].offers} ${model.replaceAll('_', ' ')}, ${formatSpread(payouts[model].usd)} USD`);
  const head: [string, string][] = [
    ['file', file],
    ['vertical', vertical],
    ['versions', `${versions.live} for live keys, ${versions.test} for test keys`],
    ['lenders', String(lenders)],
    ['offers', String(offers)],
    ['terms', `${term_months.join(', ')} months`],
    ['payouts', paid.join('; ')],
    ...(never_shown.length === 0 ? [] : [['never shown', never_shown.join(', ')] as [string, string]]),
  ];
  return [
    formatNameValues(head, 13),
    formatTable(
      ['BAND', 'OFFERS', 'NOTE RATE %', 'APR %', 'FEE %', 'APPROVAL', 'CLICK USD'],
      described.bands.map(bandCells),
    ),
    formatTable(['FIELD', 'OFFERS OPEN TO BORROWERS WITH IT'], described.coverage.flatMap(coverageCells)),
    formatTable(
      ['MEMBER', 'OFFERS USING IT'],
      Object.entries(described.using).map(([name, count]) => [name, String(count)]),
    ),
  ].join('\n\n');
}

function bandCells(band: BandStatistics): string[] {
  return [
    band.band,
    String(band.offers),
    formatSpread(band.note_rate_percent),
    formatSpread(band.apr_percent),
    formatSpread(band.origination_fee_percent),
    formatSpread(band.approval_likelihood),
    formatSpread(band.click_usd),
  ];
}

/** So many values of a field go on one line. */
const valuesPerLine = 8;

function coverageCells({ field, offers, not_told }: FieldCoverage): string[][] {
  const counts = Object.entries(offers).map(([value, count]) => `${value} ${count}`);
  if (not_told > 0) counts.push(`not told ${not_told}`);
  const lines: string[][] = [];
  for (let at = 0; at < counts.length; at += valuesPerLine) {
    lines.push([at === 0 ? field : '', counts.slice(at, at + valuesPerLine).join(', ')]);
  }
  return lines;
}

function formatSpread(spread: NumberSummary | null): string {
  if (spread === null) return '-';
  const { min, median, max } = spread;
  return min === max
    ? formatHundredths(min)
    : `${formatHundredths(min)} to ${formatHundredths(max)} (middle ${formatHundredths(median)})`;
}

function formatHundredths(value: number): string {
  return String(Math.round(value * 100) / 100);
}
