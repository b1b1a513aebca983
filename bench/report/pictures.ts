import type { LoadCurvePoint, StackComparison } from '../result/bench-result.ts';
import { findHighestSustainedLoad } from './curves-section.ts';
import { formatNumber } from './markdown.ts';
import { medianCpuMicros } from './stack-section.ts';

/** Colors for a light and for a dark page. An SVG image in a Markdown page follows the color scheme of the browser. */
const style =
  '<style>text{fill:#334155}.mark{fill:#0a5bb5}.other{fill:#94a3b8}.line{stroke:#0a5bb5}.grid{stroke:#94a3b8;stroke-opacity:.4}' +
  '@media(prefers-color-scheme:dark){text{fill:#cbd5e1}.mark{fill:#60a5fa}.other{fill:#64748b}.line{stroke:#60a5fa}}</style>';

type Anchor = 'start' | 'middle' | 'end';

function text(x: number, y: number, anchor: Anchor, content: string, attributes = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"${attributes}>${escaped}</text>`;
}

function picture(height: number, title: string, content: readonly string[]): string {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 ${height}" font-family="sans-serif" font-size="14" role="img">` +
    `<title>${title}</title>${style}${content.join('')}</svg>\n`
  );
}

const stackTitle = 'Answers per second of CPU time, beside Fastify with Redis and PostgreSQL';

/** Draws the answers per CPU second of the service and of the comparison server: two bars for each route. */
export function drawStackPicture(comparisons: readonly StackComparison[]): string {
  const [left, top, width, rowHeight, barHeight] = [190, 48, 560, 58, 20];
  const rows = comparisons.map(({ title, service, stack }) => {
    const [own, other] = [service, stack].map((rounds) => {
      const micros = medianCpuMicros(rounds);
      return micros === null ? 0 : 1e6 / micros;
    }) as [number, number];
    return { name: title.split(',')[0]!, own, other };
  });
  const largest = Math.max(...rows.map(({ own }) => own), 1);
  const bar = (y: number, kind: string, perSecond: number, label: string) => {
    const length = Math.max(1, (width * perSecond) / largest);
    const figure = `${label} ${formatNumber(perSecond)}`;
    return (
      `<rect x="${left}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" class="${kind}"/>` +
      text(left + length + 8, y + 15, 'start', figure, kind === 'mark' ? ' font-weight="bold"' : '')
    );
  };
  const content = rows.map(({ name, own, other }, at) => {
    const y = top + at * rowHeight;
    return (
      text(left - 12, y + 26, 'end', name) +
      bar(y, 'mark', own, 'service') +
      bar(y + barHeight + 2, 'other', other, 'Fastify, Redis, PostgreSQL')
    );
  });
  return picture(top + rows.length * rowHeight, stackTitle, [
    text(left, 26, 'start', stackTitle, ' font-weight="bold"'),
    ...content,
  ]);
}

/** Latencies of the scale, in milliseconds. */
const levelsMs = [1, 2, 5, 10, 20, 50, 100, 200] as const;
const latencyTitle = '99th percentile of the latency at increasing request rates';

/** Draws the p99 latency by offered load, on a logarithmic scale, up to the highest load that the service sustained. */
export function drawLatencyPicture(measured: readonly LoadCurvePoint[]): string {
  const [left, top, width, height] = [72, 48, 800, 280];
  const last = findHighestSustainedLoad(measured)?.offeredPerSecond ?? 0;
  const points = measured.filter(({ offeredPerSecond }) => offeredPerSecond <= last);
  const rateMax = Math.max(5_000, Math.ceil(last / 5_000) * 5_000);
  const x = (perSecond: number) => left + (width * perSecond) / rateMax;
  const share = (ms: number) => Math.log(Math.min(Math.max(ms, levelsMs[0]), 200)) / Math.log(200);
  const y = (ms: number) => top + height * (1 - share(ms));
  const levels = levelsMs.map(
    (ms) =>
      `<line x1="${left}" x2="${left + width}" y1="${y(ms).toFixed(1)}" y2="${y(ms).toFixed(1)}" class="grid"/>` +
      text(left - 8, y(ms) + 5, 'end', `${ms} ms`),
  );
  const rates = Array.from({ length: rateMax / 5_000 + 1 }, (_, step) =>
    text(x(step * 5_000), top + height + 22, 'middle', formatNumber(step * 5_000)),
  );
  const curve = (ms: (point: LoadCurvePoint) => number) =>
    points.map((point) => `${x(point.offeredPerSecond).toFixed(1)},${y(ms(point)).toFixed(1)}`).join(' ');
  const lines = (['p50', 'p99'] as const).map((quantile) => {
    const end = points.at(-1);
    const label = end === undefined ? '' : text(x(last) + 8, y(end.latencyMs[quantile]) + 5, 'start', quantile);
    return `<polyline points="${curve(({ latencyMs }) => latencyMs[quantile])}" fill="none" class="line" stroke-width="2"/>${label}`;
  });
  return picture(top + height + 52, latencyTitle, [
    text(left, 26, 'start', 'Latency from the scheduled time of each request', ' font-weight="bold"'),
    ...levels,
    ...rates,
    text(left + width / 2, top + height + 46, 'middle', 'requests per second'),
    ...lines,
  ]);
}
