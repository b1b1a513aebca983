/** Runs the simulation of even pacing and writes its spending curves to docs/images/pacing-month.svg. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type SimulatedHour, simulateMonth } from '../test/budgets/pacing-simulation.ts';

const file = fileURLToPath(new URL('../docs/images/pacing-month.svg', import.meta.url));
const seed = 20_260_501;
const [width, chartHeight, left, right] = [960, 170, 56, 16];
const plotWidth = width - left - right;
const tops = [56, 300] as const;

const hours = simulateMonth(seed)['per-day'];
const share = ({ bookedMicros, dayBudgetMicros }: SimulatedHour) => bookedMicros / dayBudgetMicros;
const idealShare = ({ idealMicros, dayBudgetMicros }: SimulatedHour) => idealMicros / dayBudgetMicros;

/** Returns an SVG path through the values at the end of each hour; each day starts at 0. */
function curve(values: readonly number[], top: number): string {
  const points: string[] = [];
  const x = (index: number) => (left + (plotWidth * index) / values.length).toFixed(1);
  const y = (value: number) => (top + chartHeight * (1 - value)).toFixed(1);
  for (const [index, value] of values.entries()) {
    if (index % 24 === 0) points.push(`M${x(index)} ${y(0)}`);
    points.push(`L${x(index + 1)} ${y(value)}`);
  }
  return points.join('');
}

function axes(top: number, labels: readonly string[], title: string): string {
  const lines = [0, 0.5, 1].map((value) => {
    const y = top + chartHeight * (1 - value);
    return (
      `<line x1="${left}" x2="${left + plotWidth}" y1="${y}" y2="${y}" stroke="#8886"/>` +
      `<text x="${left - 8}" y="${y + 4}" text-anchor="end">${value * 100} %</text>`
    );
  });
  const ticks = labels.map((label, index) => {
    const x = left + (plotWidth * index) / (labels.length - 1);
    return label === '' ? '' : `<text x="${x}" y="${top + chartHeight + 18}" text-anchor="middle">${label}</text>`;
  });
  return `<text x="${left}" y="${top - 12}" font-weight="bold">${title}</text>${[...lines, ...ticks].join('')}`;
}

function panel(shown: readonly SimulatedHour[], top: number, labels: readonly string[], title: string): string {
  return (
    axes(top, labels, title) +
    `<path d="${curve(shown.map(idealShare), top)}" fill="none" stroke="#888" stroke-dasharray="5 3"/>` +
    `<path d="${curve(shown.map(share), top)}" fill="none" stroke="#2563eb" stroke-width="1.6"/>`
  );
}

const dayLabels = Array.from({ length: 32 }, (_, day) => (day % 5 === 0 ? String(day) : ''));
const hourLabels = Array.from({ length: 25 }, (_, hour) => (hour % 3 === 0 ? `${hour}:00` : ''));
const worst = Math.max(...hours.map((hour) => Math.abs(share(hour) - idealShare(hour))));
writeFileSync(
  file,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 510" font-family="sans-serif" font-size="12" fill="#777" role="img">` +
    `<title>Spending of an offer with even pacing</title>` +
    `<rect width="${width}" height="510" fill="#fff"/>` +
    `<text x="${left}" y="24" font-size="14">Booked revenue (blue) and ideal curve (dashed), as a share of the day's budget. ` +
    `Largest difference: ${(worst * 100).toFixed(1)} % of the budget</text>` +
    panel(hours, tops[0], dayLabels, 'Simulated month, by UTC day') +
    panel(hours.slice(24 * 12, 24 * 13), tops[1], hourLabels, 'Day 13, by UTC hour') +
    `</svg>\n`,
);
console.log(`wrote ${file}`);
