import {
  type BandStatistics,
  type CatalogStatistics,
  computeCatalogStatistics,
  type FieldCoverage,
  type NumberSummary,
} from '../offers/catalog-stats.ts';
import { summarizeCatalog, readCatalogFile, readSteps } from './catalog-file.ts';
import { CommandLineError } from './command-line-error.ts';
import { formatNameValues, printJson, printResult, formatTable } from './output.ts';
import { progressStreamFor } from './progress-stream.ts';
import { createSteppedProgress } from './stepped-progress.ts';

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
    const described = computeCatalogStatistics(catalog, vertical, (share) => progress.update('describe', share));
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
    formatTable(['BAND', 'OFFERS', 'NOTE RATE %', 'APR %', 'FEE %', 'APPROVAL', 'CLICK USD'], described.bands.map(bandCells)),
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
  return min === max ? formatHundredths(min) : `${formatHundredths(min)} to ${formatHundredths(max)} (middle ${formatHundredths(median)})`;
}

function formatHundredths(value: number): string {
  return String(Math.round(value * 100) / 100);
}
