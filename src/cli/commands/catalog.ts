import type { Command } from 'commander';
import { bounds } from '../../bounds.ts';
import { type CatalogError, type CatalogErrors, formatCatalogValuePath } from '../../catalogs/catalog-errors.ts';
import type { CatalogFile } from '../../catalogs/catalog-schema.ts';
import type {
  CatalogStatistics,
  FieldCoverage,
  NumberSummary,
  OfferGroupStatistics,
} from '../../catalogs/catalog-statistics.ts';
import { computeCatalogVersions } from '../../catalogs/catalog-version.ts';
import { findVerticalOfCatalog } from '../../catalogs/find-catalog-files.ts';
import { parseCatalogJson, readCatalogText, validateCatalogValue } from '../../catalogs/parse-catalog.ts';
import { logoFolder, readLogos } from '../../catalogs/read-logos.ts';
import type { VerticalRegistry } from '../../catalogs/vertical-registry.ts';
import { daysSinceEpoch } from '../../domain/calendar.ts';
import { systemClock } from '../../domain/clock.ts';
import { CommandLineError, createCommandGroup, defineCommand } from '../command.ts';
import { formatNameValuePairs, formatTable, printChunk, printJson, printResult } from '../output.ts';
import { jsonErrorPosition, locateJsonPaths, type TextPosition } from './json-positions.ts';

function catalogValidateCommand(registry: VerticalRegistry): Command {
  return defineCommand('validate', {
    summary: 'validate a catalog file',
    description:
      'Validates a catalog file with the rules of the server, and prints each error and each warning with its line and path. A file with warnings is valid. For a valid file, the command also prints notes about lenders whose logo cannot be shown. The command changes no file. A server checks its catalog file every second, so a valid file only needs to replace the catalog file of the server.',
    examples: [
      'marketplace catalog validate offers.json',
      'marketplace catalog validate new.json && mv new.json offers.json',
      `marketplace catalog validate offers.json --json | jq -r '.faults[] | "\\(.line)\\t\\(.path)"'`,
    ],
    exitCodes: {
      0: 'the file is valid',
      1: 'the file is not valid or cannot be read; the reason is on standard error',
    },
    json: 'one object, also for an invalid catalog: file, valid, vertical, lenders, offers, versions, faults, rest, warnings, notes',
  })
    .argument('<file>', 'catalog file')
    .action((file: string, options: { readonly json?: true }) => validateCatalogFile(file, registry, options));
}

function catalogStatsCommand(registry: VerticalRegistry): Command {
  return defineCommand('stats', {
    summary: 'print statistics of a catalog file',
    description:
      'Prints statistics of a valid catalog: prices and payouts by group, such as the credit band, and the number of offers that accept each value of a field.',
    examples: [
      'marketplace catalog stats offers.json',
      `marketplace catalog stats offers.json --json | jq '.coverage[] | select(.field == "state").offers.AR'`,
    ],
    json:
      'one object; a distribution is null or an object with `min`, `median` and `max`: file, vertical, lenders, offers, ' +
      'versions, grouped_by, groups, coverage, payouts, using, never_shown',
  })
    .argument('<file>', 'catalog file')
    .action((file: string, options: { readonly json?: true }) => printCatalogStats(file, registry, options));
}

export function createCommand(registry: VerticalRegistry): Command {
  return createCommandGroup(
    'catalog',
    'Validates a catalog file before a server reads it, and prints statistics of its offers.',
    [catalogValidateCommand(registry), catalogStatsCommand(registry)],
  );
}

/** Reads and validates a catalog file. `catalog` is null if there are errors. Throws `CommandLineError` if the file cannot be read. */
function readCatalogFile(file: string, registry: VerticalRegistry) {
  const read = readCatalogText(file);
  if (!read.ok) throw new CommandLineError(`${file} ${read.problem}`);
  const { text } = read;
  const parsed = parseCatalogJson(text);
  const vertical = registry.withProduct(findVerticalOfCatalog(parsed.ok ? parsed.value : null, registry));
  const validated = parsed.ok
    ? validateCatalogValue(parsed.value, vertical, daysSinceEpoch(systemClock.wallMs()))
    : parsed;
  return validated.ok
    ? { text, ...vertical, catalog: validated.catalog, errors: validated.warnings }
    : { text, ...vertical, catalog: null, errors: validated.errors };
}

/** Returns the vertical, the number of lenders, the number of offers, and the live and test versions of a valid catalog. */
function summarizeCatalog(catalog: CatalogFile) {
  return {
    vertical: catalog.vertical,
    lenders: catalog.lenders.length,
    offers: catalog.lenders.reduce((sum, { offers }) => sum + offers.length, 0),
    versions: computeCatalogVersions(catalog),
  };
}

type LocatedError = ReturnType<typeof toLocatedError>;

async function validateCatalogFile(
  file: string,
  registry: VerticalRegistry,
  options: { readonly json?: true },
): Promise<void> {
  const { text, catalog, errors } = readCatalogFile(file, registry);
  const { located, rest } = locateErrors(text, errors);
  const { listedWarnings, omittedWarningCount: omitted } = errors;
  const moreWarnings = omitted > 0 ? { path: [], problem: `and ${omitted} more warnings` } : null;
  const warnings = locateProblems(text, listedWarnings, moreWarnings);
  const summary = catalog === null ? null : summarizeCatalog(catalog);
  const notes = catalog === null || located.length > 0 ? [] : await findLogoNotes(file, text, catalog);
  if (options.json) {
    printJson({ file, valid: located.length === 0, ...summary, faults: located, rest, warnings, notes });
  } else {
    const lines = located.map((error) => formatErrorLine(file, error));
    if (rest !== null) lines.push(rest);
    if (located.length === 0 && summary !== null) {
      const { offers, lenders, vertical, versions } = summary;
      lines.push(
        `${file} is valid: ${offers} offers of ${lenders} lenders for ${vertical}; version ${versions.live} for live keys, ${versions.test} for test keys`,
      );
    }
    for (const warning of warnings) lines.push(formatErrorLine(file, warning, 'warning: '));
    for (const note of notes) lines.push(formatErrorLine(file, note, 'note: '));
    await printChunk(lines.join('\n'));
  }
  if (located.length > 0) {
    throw new CommandLineError(
      `${file} is not a valid catalog: ${formatErrorCount(located.length)}${rest === null ? '' : ` ${rest}`}`,
    );
  }
}

/** Sorts the errors by their position in the text. `rest` is a text like `and 5 more` if errors are omitted, otherwise null. */
function locateErrors(text: string, errors: CatalogErrors): { located: LocatedError[]; rest: string | null } {
  if (errors.hasParseError) {
    const located = errors.listed.map((error) =>
      toLocatedError(
        error,
        error.problem.startsWith('is not JSON') ? jsonErrorPosition(text, error.problem) : { line: 1, column: 1 },
      ),
    );
    return { located, rest: null };
  }
  const { positions, duplicates } = locateJsonPaths(
    text,
    errors.listed.map(({ path }) => path),
    bounds.catalogErrorsReportedMax - errors.listed.length,
  );
  const located = errors.listed.map((error, index) => toLocatedError(error, positions[index]!));
  // If an object repeats a member name, `JSON.parse` uses only the last value, so a criterion or price would be ignored without notice.
  const problem = 'duplicate member of the same object';
  located.push(...duplicates.reported.map(({ path, position }) => toLocatedError({ path, problem }, position)));
  const rest = errors.formatOmittedErrorCount(duplicates.count - duplicates.reported.length);
  return { located: located.sort(byPosition), rest };
}

/** Sorts warnings or notes by their position in the text, and appends `more`, which describes the omitted ones. */
function locateProblems(text: string, problems: readonly CatalogError[], more: CatalogError | null): LocatedError[] {
  if (problems.length === 0) return [];
  const paths = problems.map(({ path }) => path);
  const { positions } = locateJsonPaths(text, paths, 0);
  const located = problems.map((problem, index) => toLocatedError(problem, positions[index]!)).sort(byPosition);
  return more === null ? located : [...located, toLocatedError(more, null)];
}

/** Lists the lenders whose logo is replaced by a monogram. Missing logos do not make a catalog invalid. */
async function findLogoNotes(file: string, text: string, { lenders }: CatalogFile): Promise<LocatedError[]> {
  const { problems, folderFound } = await readLogos(logoFolder(file), lenders);
  if (!folderFound) {
    const problem = 'there is no folder logos beside the file, so a monogram is shown for every lender';
    return locateProblems(text, [{ path: ['lenders'], problem }], null);
  }
  const notes = problems.slice(0, bounds.catalogErrorsReportedMax).map(({ lenderIndex, file: logo, problem }) => ({
    path: ['lenders', lenderIndex, 'logo'],
    problem: `logos/${logo} ${problem}, so a monogram is shown`,
  }));
  const more = problems.length - notes.length;
  return locateProblems(text, notes, more > 0 ? { path: ['lenders'], problem: `and ${more} more logos` } : null);
}

function toLocatedError({ path, problem }: CatalogError, position: TextPosition | null) {
  const { line = null, column = null } = position ?? {};
  return { path: formatCatalogValuePath(path), line, column, problem };
}

function byPosition(one: LocatedError, other: LocatedError): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);
}

/** Formats an error with file, line and column, as compilers do, so that editors and terminals can link to the position. */
function formatErrorLine(file: string, { path, line, column, problem }: LocatedError, kind = ''): string {
  return `${file}${line === null ? '' : `:${line}:${column}`}: ${kind}${path}: ${problem}`;
}

function formatErrorCount(count: number): string {
  return `${count} ${count === 1 ? 'error' : 'errors'}`;
}

function printCatalogStats(file: string, registry: VerticalRegistry, options: { readonly json?: true }): void {
  const { catalog, vertical, product, errors } = readCatalogFile(file, registry);
  if (catalog === null) {
    throw new CommandLineError(
      `${file} is not a valid catalog: ${formatErrorCount(errors.count)}; list the errors with marketplace catalog validate`,
    );
  }
  const summary = summarizeCatalog(catalog);
  const statistics = product.computeStatistics(catalog, vertical);
  if (options.json) printJson({ file, ...summary, ...statistics });
  else printResult(formatCatalogStats(file, summary, statistics));
}

function formatCatalogStats(
  file: string,
  { vertical, versions }: ReturnType<typeof summarizeCatalog>,
  statistics: CatalogStatistics,
): string {
  const { lenders, offers, grouped_by, groups, payouts, never_shown } = statistics;
  const payoutTexts = (['cost_per_lead', 'cost_per_click'] as const)
    .filter((model) => payouts[model].offers > 0)
    .map((model) => `${payouts[model].offers} ${model.replaceAll('_', ' ')}, ${formatSpread(payouts[model].usd)} USD`);
  const head: [string, string][] = [
    ['file', file],
    ['vertical', vertical],
    ['versions', `${versions.live} for live keys, ${versions.test} for test keys`],
    ['lenders', String(lenders)],
    ['offers', String(offers)],
    ['payouts', payoutTexts.join('; ')],
    ...(never_shown.length === 0 ? [] : [['never shown', never_shown.join(', ')] as [string, string]]),
  ];
  return [
    formatNameValuePairs(head, 13),
    formatTable(
      [grouped_by, 'offers', ...Object.keys(groups[0]?.figures ?? {})].map(formatColumnHeading),
      groups.map(groupCells),
    ),
    formatTable(['FIELD', 'OFFERS THAT ACCEPT EACH VALUE'], statistics.coverage.flatMap(coverageCells)),
    formatTable(
      ['MEMBER', 'OFFERS USING IT'],
      Object.entries(statistics.using).map(([name, count]) => [name, String(count)]),
    ),
  ].join('\n\n');
}

/** Converts the name of a figure to a column heading: `apr_percent` becomes `APR %`. */
function formatColumnHeading(name: string): string {
  return name
    .replace(/_percent$/, ' %')
    .replaceAll('_', ' ')
    .toUpperCase();
}

function groupCells({ name, offers, figures }: OfferGroupStatistics): string[] {
  return [name, String(offers), ...Object.values(figures).map(formatSpread)];
}

const valuesPerLine = 8;

function coverageCells({ field, offers, not_told }: FieldCoverage): string[][] {
  const counts = Object.entries(offers).map(([value, count]) => `${value} ${count}`);
  if (not_told > 0) counts.push(`not given ${not_told}`);
  const lines: string[][] = [];
  for (let start = 0; start < counts.length; start += valuesPerLine) {
    lines.push([start === 0 ? field : '', counts.slice(start, start + valuesPerLine).join(', ')]);
  }
  return lines;
}

function formatSpread(spread: NumberSummary | null): string {
  if (spread === null) return '-';
  const { min, median, max } = spread;
  return min === max
    ? formatHundredths(min)
    : `${formatHundredths(min)} to ${formatHundredths(max)} (median ${formatHundredths(median)})`;
}

function formatHundredths(value: number): string {
  return String(Math.round(value * 100) / 100);
}
