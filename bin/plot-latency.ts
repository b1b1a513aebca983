/** Writes docs/images/latency-curve.svg: the latency curve of the shipped benchmark result, on a logarithmic scale. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readMeasurements } from '../bench/capacity/benchmark-result.ts';
import { minCompletedRequestShare } from '../bench/capacity/load-curve.ts';
import { defaultTrafficMixFile, toTrafficMix } from '../bench/capacity/traffic-mix.ts';

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const result = JSON.parse(readFileSync(path('bench/capacity/reference-result.json'), 'utf8'));
const { points: measured } = readMeasurements(result, toTrafficMix(defaultTrafficMixFile)).curve;
const end = measured.findIndex((point) => point.achievedPerSecond < minCompletedRequestShare * point.offeredPerSecond);
/** Rates at which the service answered nearly all requests. */
const points = end < 0 ? measured : measured.slice(0, end);

const [left, top, plotWidth, plotHeight] = [64, 40, 860, 280];
const [lowestMs, highestMs] = [1, 200];
const rateMax = Math.ceil(Math.max(...points.map(({ offeredPerSecond }) => offeredPerSecond)) / 5_000) * 5_000;
const x = (perSecond: number) => left + (plotWidth * perSecond) / rateMax;
const y = (ms: number) => top + plotHeight * (1 - Math.log(ms / lowestMs) / Math.log(highestMs / lowestMs));
const text = (at: readonly [number, number], anchor: string, content: string) =>
  `<text x="${at[0].toFixed(1)}" y="${at[1].toFixed(1)}" text-anchor="${anchor}">${content}</text>`;

const levels = [1, 2, 5, 10, 20, 50, 100, 200].map(
  (ms) =>
    `<line x1="${left}" x2="${left + plotWidth}" y1="${y(ms).toFixed(1)}" y2="${y(ms).toFixed(1)}" stroke="#8886"/>` +
    text([left - 8, y(ms) + 4], 'end', `${ms} ms`),
);
const rates = Array.from({ length: rateMax / 5_000 + 1 }, (_, step) =>
  text([x(step * 5_000), top + plotHeight + 20], 'middle', (step * 5_000).toLocaleString('en-US')),
);
const line = points.map(({ offeredPerSecond, p99Ms }) => `${x(offeredPerSecond).toFixed(1)},${y(p99Ms).toFixed(1)}`);
writeFileSync(
  path('docs/images/latency-curve.svg'),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 380" font-family="sans-serif" font-size="12" fill="#777" role="img">` +
    `<title>99th percentile of the latency at increasing request rates</title><rect width="960" height="380" fill="#fff"/>` +
    text([left, 22], 'start', '99th percentile of the latency, from the scheduled time of each request') +
    `${levels.join('')}${rates.join('')}${text([left + plotWidth / 2, 370], 'middle', 'requests per second')}` +
    `<polyline points="${line.join(' ')}" fill="none" stroke="#2563eb" stroke-width="2"/></svg>\n`,
);
