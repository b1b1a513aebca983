import {
  type BandStats,
  type CatalogStats,
  catalogStats,
  type FieldCoverage,
  type Spread,
} from '../offers/catalog-stats.ts';
import { catalogSummary, readCatalog, readingSteps } from './catalog-file.ts';
import { CommandLineError } from './command-line-error.ts';
import { facts, printJson, printResult, table } from './output.ts';
import { progressStream } from './progress-stream.ts';
import { steppedProgress } from './stepped-progress.ts';

export function describeCatalog(file: string, options: { readonly json?: true }): void {
  const { summary, described } = description(file, options);
  if (options.json) printJson({ file, ...summary, ...described });
  else printResult(textOf(file, summary, described));
}

const steps = { ...readingSteps, name_versions: 7, describe: 34 } as const;

function description(file: string, options: { readonly json?: true }) {
  const progress = steppedProgress(progressStream(options), steps);
  try {
    const { catalog, vertical, faults } = readCatalog(file, progress);
    if (catalog === null) {
      const count = `${faults.count} ${faults.count === 1 ? 'fault' : 'faults'}`;
      throw new CommandLineError(`${file} is no valid catalog: ${count}, which marketplace catalog validate names`);
    }
    progress.at('name_versions');
    const summary = catalogSummary(catalog);
    const described = catalogStats(catalog, vertical, (share) => progress.at('describe', share));
    return { summary, described };
  } finally {
    progress.done();
  }
}

function textOf(
  file: string,
  { vertical, versions }: ReturnType<typeof catalogSummary>,
  described: CatalogStats,
): string {
  const { lenders, offers, term_months, payouts, never_shown } = described;
  const paid = (['cost_per_lead', 'cost_per_click'] as const)
    .filter((model) => payouts[model].offers > 0)
    .map((model) => `${payouts[model].offers} ${model.replaceAll('_', ' ')}, ${between(payouts[model].usd)} USD`);
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
    facts(head, 13),
    table(['BAND', 'OFFERS', 'NOTE RATE %', 'APR %', 'FEE %', 'APPROVAL', 'CLICK USD'], described.bands.map(bandCells)),
    table(['FIELD', 'OFFERS OPEN TO BORROWERS WITH IT'], described.coverage.flatMap(coverageCells)),
    table(
      ['MEMBER', 'OFFERS USING IT'],
      Object.entries(described.using).map(([name, count]) => [name, String(count)]),
    ),
  ].join('\n\n');
}

function bandCells(band: BandStats): string[] {
  return [
    band.band,
    String(band.offers),
    between(band.note_rate_percent),
    between(band.apr_percent),
    between(band.origination_fee_percent),
    between(band.approval_likelihood),
    between(band.click_usd),
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

function between(spread: Spread | null): string {
  if (spread === null) return '-';
  const { min, median, max } = spread;
  return min === max ? short(min) : `${short(min)} to ${short(max)} (middle ${short(median)})`;
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}
