import type { CheckResult, CheckRow } from '../capacity/check.ts';
import type { CapacityPlan, Resource, ResourceName } from '../capacity/plan.ts';
import { formatTable } from './output.ts';

const resourceTitles: Readonly<Record<ResourceName, string>> = {
  'socket-thread': 'CPU, socket thread',
  'all-cores': 'CPU, all cores',
  latency: 'p99 within the SLO',
  'session-ceiling': 'live sessions, bound',
  memory: 'live sessions, memory',
};

const checkRowTitles: Readonly<Record<CheckRow['figure'], string>> = {
  rate: 'requests/s',
  p99: 'p99',
  'socket-thread': 'CPU, socket thread',
  'all-threads': 'CPU, all threads',
  memory: 'memory, collected',
};

export function formatPlan(plan: CapacityPlan): string {
  const { request, box, key, load, boxes, keysPerBox, bottleneck } = plan;
  const commit = box.commit === null ? '' : `, commit ${box.commit}`;
  return [
    [
      `${formatCount(request.keys, 'key')}, p99 within ${request.sloP99Ms} ms: ${formatCount(boxes, 'box', 'boxes')}`,
      `One box carries ${formatCount(keysPerBox, 'key')}; what gives first: ${resourceTitles[bottleneck]}.`,
    ].join('\n'),
    [
      [
        'box',
        `${box.cpu}, ${formatCount(box.cores, 'core')}, ${formatBytes(box.memoryMiB * 2 ** 20)}, measured ${box.measuredAt}${commit}`,
      ],
      ['key', `${formatTenths(key.requestsPerSecond)} requests/s at most, held by its limit of ${key.boundBy}`],
      ['', `${formatInteger(key.sessionsPerDay)} sessions a day, ${formatInteger(key.liveSessions)} of them live at one time`],
      ['held back', `${formatTenths(request.headroom * 100)} % of every capacity`],
    ]
      .map(([name, value]) => `${name?.padEnd(11)}${value}`)
      .join('\n'),
    formatTable(
      ['ONE BOX HAS', 'IN ALL', 'ENOUGH FOR', `USED BY ${formatCount(load.keys, 'KEY')}`, ''],
      plan.resources.map((resource) => resourceCells(resource, load.keys, resource.name === bottleneck)),
    ),
    formatPrediction(plan),
    ['Beyond what was measured:', ...plan.caveats.map((sentence) => `- ${sentence}`)].join('\n'),
  ].join('\n\n');
}

export function formatCheck({ request }: CapacityPlan, { rows, measurements, carried }: CheckResult): string {
  const { seconds, keys, liveSessions, refused, failed, offeredPerSecond, clientSaturated, residentMiB } = measurements;
  const verdict = carried ? 'carried the load' : 'did NOT carry the load';
  return [
    `Checked for ${formatTenths(seconds)} s: the box ${verdict} of ${formatInteger(offeredPerSecond)} requests/s with p99 within ${request.sloP99Ms} ms.`,
    formatTable(['FIGURE', 'PREDICTED', 'MEASURED', 'ERROR'], rows.map(checkCells)),
    [
      `${formatCount(keys, 'key')}, ${formatCount(liveSessions, 'live session')} at the end, ${formatInteger(refused)} refused, ${formatInteger(failed)} failed.`,
      ...(residentMiB === null
        ? []
        : [`Before its garbage was collected the server held ${formatBytes(residentMiB * 2 ** 20)}.`]),
      ...(clientSaturated
        ? ['The client was at its end: the latency measured tells of it as much as of the server.']
        : []),
    ].join('\n'),
  ].join('\n\n');
}

function resourceCells({ name, unit, capacity, perKey, keys }: Resource, load: number, first: boolean): string[] {
  return [
    resourceTitles[name],
    `${formatInteger(capacity)} ${unit}`,
    formatCount(Math.floor(keys), 'key'),
    `${formatTenths(((load * perKey) / capacity) * 100)} %`,
    first ? 'gives first' : '',
  ];
}

function formatPrediction({ load, predicted, box }: CapacityPlan): string {
  const lines = [
    ['requests/s', formatInteger(load.requestsPerSecond)],
    ['p99', `${formatTenths(predicted.p99Ms)} ms`],
    [
      'CPU',
      `${formatHundredths(predicted.socketThreadCores)} of the socket thread's core, ${formatHundredths(predicted.allThreadsCores)} of ${box.cores}`,
    ],
    ['live', `${formatInteger(load.liveSessions)} sessions, ${formatBytes(predicted.memoryMiB * 2 ** 20)} of memory`],
    ['disk', predicted.diskBytesPerDay === null ? 'not known' : `${formatBytes(predicted.diskBytesPerDay)} more each day`],
  ];
  const title = `Predicted for a box with ${formatCount(load.keys, 'key')}:`;
  return [title, ...lines.map(([name, value]) => `  ${name?.padEnd(11)}${value}`)].join('\n');
}

function checkCells({ figure, unit, predicted, measured, errorPercent }: CheckRow): string[] {
  const shown = (value: number) => (unit === 'requests/s' ? formatInteger(value) : `${formatHundredths(value)} ${unit}`);
  return [
    checkRowTitles[figure],
    shown(predicted),
    measured === null ? 'not told' : shown(measured),
    errorPercent === null ? '-' : `${errorPercent < 0 ? '' : '+'}${formatTenths(errorPercent)} %`,
  ];
}

function formatCount(count: number, one: string, many = `${one}${one === one.toUpperCase() ? 'S' : 's'}`): string {
  return `${formatInteger(count)} ${count === 1 ? one : many}`;
}

function formatInteger(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function formatTenths(value: number): string {
  return (Math.round(value * 10) / 10).toLocaleString('en-US');
}

function formatHundredths(value: number): string {
  return (Math.round(value * 100) / 100).toLocaleString('en-US');
}

function formatBytes(bytes: number): string {
  return bytes < 2 ** 30 ? `${formatTenths(bytes / 2 ** 20)} MiB` : `${formatTenths(bytes / 2 ** 30)} GiB`;
}
