import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { BenchResult } from '../../result/bench-result.ts';
import { escapeHtml, escapeWithCode, formatDecimals, formatInteger, jsonForScript, pluralize } from '../formatting.ts';
import { type KeyFigure, keyFigures } from '../key-figures.ts';
import {
  type Cell,
  cellText,
  type LinePlot,
  type Plot,
  type ReportSection,
  type ReportTable,
} from '../report-section.ts';
import { reportSections } from '../sections/sections.ts';
import { barsHtml } from './bars.ts';

const pathTo = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Bundles the script of the page, including uPlot, and the style sheet. */
async function buildAssets(): Promise<{ readonly script: string; readonly style: string }> {
  const uplot = dirname(createRequire(import.meta.url).resolve('uplot/package.json'));
  const licence = await readFile(join(uplot, 'LICENSE'), 'utf8');
  const bundled = await build({
    entryPoints: [pathTo('../browser/main.ts')],
    write: false,
    bundle: true,
    format: 'iife',
    platform: 'browser',
    target: ['chrome105', 'edge105', 'firefox110', 'safari16.4'],
    minify: true,
    charset: 'utf8',
    // The licence of uPlot requires its licence text in copies.
    banner: { js: `/*! With uPlot.\n${licence.trim()}\n*/` },
    legalComments: 'none',
    logLevel: 'silent',
  });
  const sheets = [join(uplot, 'dist/uPlot.min.css'), pathTo('./page.css')];
  const styles = await Promise.all(sheets.map((path) => readFile(path, 'utf8')));
  return { script: bundled.outputFiles[0]!.text, style: styles.join('\n') };
}

/** Maximum number of characters in a cell without line breaks. */
const longTextCharacters = 44;

/**
 * Renders a result as a self-contained HTML file; its Content-Security-Policy forbids requests. The element `result` contains the
 * whole result as JSON.
 */
export async function renderPage(result: BenchResult): Promise<string> {
  const { script, style } = await buildAssets();
  const sections = reportSections(result);
  const plots: LinePlot[] = [];
  const body = sections.map((section) => sectionHtml(section, plots)).join('\n');
  const policy = [
    "default-src 'none'",
    `script-src '${sha256(script)}'`,
    `style-src '${sha256(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const title = `Benchmarks, ${result.startedAt.slice(0, 10)}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>What this machine carries</h1>
<p class="when">svc-marketplace, ${escapeHtml(formatTimestamp(result.startedAt))}${result.commit === null ? '' : `, commit <code>${escapeHtml(result.commit)}</code>`}${result.quick ? ' <strong class="pill bad">quick run: indicative only</strong>' : ''}</p>
${navigationHtml(sections)}
</header>
<main>
${keyFiguresHtml(keyFigures(result))}
<section id="machine">
<h2>Machine and method</h2>
<div class="columns">
${machineHtml(result)}
${methodHtml(result)}
</div>
</section>
${body}
</main>
<noscript><p>Plots with lines need JavaScript; the tables below them hold the same figures.</p></noscript>
<script type="application/json" id="result">${jsonForScript(result)}</script>
<script type="application/json" id="plots">${jsonForScript(plots)}</script>
<script>${script}</script>
</body>
</html>
`;
}

function sha256(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** Formats a time: 2026-01-02T03:04:05.678Z becomes 2026-01-02 03:04 UTC. */
function formatTimestamp(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}

function navigationHtml(sections: readonly ReportSection[]): string {
  const links = sections.map(({ id, title }) => `<li><a href="#${id}">${escapeHtml(title)}</a></li>`);
  return `<nav aria-label="Chapters"><ul>${links.join('')}</ul></nav>`;
}

function keyFiguresHtml(keys: readonly KeyFigure[]): string {
  if (keys.length === 0) return '';
  const cards = keys.map(
    ({ label, value, note, mark }) =>
      `<div class="key ${mark}"><dt>${escapeHtml(label)}</dt><dd class="value">${escapeHtml(value)}</dd><dd class="note">${escapeHtml(note)}</dd></div>`,
  );
  return `<dl class="keys">${cards.join('')}</dl>`;
}

function machineHtml({ machine }: BenchResult): string {
  const facts: readonly (readonly [string, string])[] = [
    ['Processor', `${machine.cpu}, ${formatInteger(machine.cores)} cores`],
    ['Memory', `${formatInteger(machine.memoryGiB)} GiB`],
    ['System', machine.system],
    ['Node.js', machine.node],
    ['Data on', machine.disk],
    ['Load average before', formatDecimals(machine.loadAverage, 1)],
  ];
  return `<dl class="facts">${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${escapeHtml(value)}</dd></div>`).join('')}</dl>`;
}

function methodHtml({ scale, routes }: BenchResult): string {
  const clients = [...new Set(routes.map(({ client }) => client))];
  const by = clients.length === 0 ? '' : `, sent by <code>${clients.join('</code> and <code>')}</code>`;
  const points = [
    `Each round puts the same load${by} on the service and on servers that only read the request and write as many bytes, in turn. ` +
      'What counts is the ratio: requests a second say more about the machine than about the code.',
    `${pluralize(scale.rounds, 'round')} of about ${scale.seconds} s after one that warms up, ${formatInteger(scale.connections)} connections, ` +
      `requests spread over ${formatInteger(scale.keys)} keys with their real limits. Figures are of the middle round, spreads from the lowest to the highest.`,
    'Refusals (429, 503) are never throughput. Client and servers share the cores of one machine, over loopback.',
  ];
  return `<ul class="method">${points.map((point) => `<li>${point}</li>`).join('')}</ul>`;
}

function sectionHtml({ id, title, text, tables }: ReportSection, plots: LinePlot[]): string {
  return `<section id="${id}">
<h2>${escapeHtml(title)}</h2>
${text.map((paragraph) => `<p>${escapeWithCode(paragraph)}</p>`).join('\n')}
${tables.map((table) => tableHtml(table, plots)).join('\n')}
</section>`;
}

function tableHtml({ caption, head, rows, plots: drawn }: ReportTable, plots: LinePlot[]): string {
  const figures = drawn.map((plot) => figureHtml(plot, plots));
  const above = figures.length === 0 ? '' : `<div class="figures">${figures.join('\n')}</div>\n`;
  return `<div class="block">
${above}<div class="scroller" role="region" tabindex="0" aria-label="${escapeHtml(caption)}"><table>
<caption>${escapeHtml(caption)}</caption>
<thead><tr>${head.map((cell, at) => `<th scope="col"${alignmentClass(rows, at)}>${escapeHtml(cell)}</th>`).join('')}</tr></thead>
<tbody>
${rows.map((row) => `<tr>${row.map((cell, at) => cellHtml(cell, at, alignmentClass(rows, at))).join('')}</tr>`).join('\n')}
</tbody>
</table></div>
</div>`;
}

function cellHtml(cell: Cell, at: number, aligned: string): string {
  const html =
    typeof cell === 'string' ? escapeWithCode(cell) : `<span class="pill ${cell.mark}">${escapeHtml(cell.text)}</span>`;
  return at === 0 ? `<th scope="row"${aligned}>${html}</th>` : `<td${aligned}>${html}</td>`;
}

/** Returns the CSS class of a cell: numbers are right-aligned, and long texts can break lines. */
function alignmentClass(rows: readonly (readonly Cell[])[], at: number): string {
  const numbers = rows.every((row) => {
    const cell = row[at]!;
    return typeof cell === 'string' && /^(-|[\d.,]+( [%/(].*)?)$/.test(cell);
  });
  if (numbers) return ' class="number"';
  return rows.some((row) => cellText(row[at]!).length > longTextCharacters) ? ' class="prose"' : '';
}

function figureHtml(plot: Plot, plots: LinePlot[]): string {
  const title = escapeHtml(plot.title);
  if (plot.kind === 'bars') {
    return `<figure class="wide"><figcaption>${title}${legendHtml(plot.groups[0]?.bars ?? [])}</figcaption>${barsHtml(plot)}</figure>`;
  }
  plots.push(plot);
  const named = `${title}. Its figures are in the table below.`;
  return `<figure><figcaption>${title}</figcaption><div class="plot" role="img" aria-label="${named}" data-plot="${plots.length - 1}"></div></figure>`;
}

/** Renders the legend of target marks and whiskers; empty without targets. */
function legendHtml(bars: readonly { readonly target: number | null }[]): string {
  if (bars.every(({ target }) => target === null)) return '';
  return '<span class="legend"><span class="sample-target"></span> target <span class="sample-whisker"></span> lowest to highest round</span>';
}
