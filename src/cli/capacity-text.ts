import type { CheckResult, CheckRow } from '../capacity/check.ts';
import type { Plan, Resource, ResourceName } from '../capacity/plan.ts';
import { table } from './output.ts';

const resourceTitles: Readonly<Record<ResourceName, string>> = {
  'socket-thread': 'CPU, socket thread',
  'all-cores': 'CPU, all cores',
  latency: 'p99 within the SLO',
  'session-ceiling': 'live sessions, bound',
  memory: 'live sessions, memory',
};

const figureTitles: Readonly<Record<CheckRow['figure'], string>> = {
  rate: 'requests/s',
  p99: 'p99',
  'socket-thread': 'CPU, socket thread',
  'all-threads': 'CPU, all threads',
  memory: 'memory, collected',
};

export function planText(plan: Plan): string {
  const { question, box, key, load, boxes, keysPerBox, bottleneck } = plan;
  const commit = box.commit === null ? '' : `, commit ${box.commit}`;
  return [
    [
      `${counted(question.keys, 'key')}, p99 within ${question.sloP99Ms} ms: ${counted(boxes, 'box', 'boxes')}`,
      `One box carries ${counted(keysPerBox, 'key')}; what gives first: ${resourceTitles[bottleneck]}.`,
    ].join('\n'),
    [
      [
        'box',
        `${box.cpu}, ${counted(box.cores, 'core')}, ${size(box.memoryMiB * 2 ** 20)}, measured ${box.measuredAt}${commit}`,
      ],
      ['key', `${decimal(key.requestsPerSecond)} requests/s at most, held by its limit of ${key.boundBy}`],
      ['', `${whole(key.sessionsPerDay)} sessions a day, ${whole(key.liveSessions)} of them live at one time`],
      ['held back', `${decimal(question.headroom * 100)} % of every capacity`],
    ]
      .map(([name, value]) => `${name?.padEnd(11)}${value}`)
      .join('\n'),
    table(
      ['ONE BOX HAS', 'IN ALL', 'ENOUGH FOR', `USED BY ${counted(load.keys, 'KEY')}`, ''],
      plan.resources.map((resource) => resourceCells(resource, load.keys, resource.name === bottleneck)),
    ),
    predictionText(plan),
    ['Beyond what was measured:', ...plan.beyond.map((sentence) => `- ${sentence}`)].join('\n'),
  ].join('\n\n');
}

export function checkText({ question }: Plan, { rows, findings, carried }: CheckResult): string {
  const { seconds, keys, liveSessions, refused, failed, offeredPerSecond, clientSaturated, residentMiB } = findings;
  const verdict = carried ? 'carried the load' : 'did NOT carry the load';
  return [
    `Checked for ${decimal(seconds)} s: the box ${verdict} of ${whole(offeredPerSecond)} requests/s with p99 within ${question.sloP99Ms} ms.`,
    table(['FIGURE', 'PREDICTED', 'MEASURED', 'ERROR'], rows.map(checkCells)),
    [
      `${counted(keys, 'key')}, ${counted(liveSessions, 'live session')} at the end, ${whole(refused)} refused, ${whole(failed)} failed.`,
      ...(residentMiB === null
        ? []
        : [`Before its garbage was collected the server held ${size(residentMiB * 2 ** 20)}.`]),
      ...(clientSaturated
        ? ['The client was at its end: the latency measured tells of it as much as of the server.']
        : []),
    ].join('\n'),
  ].join('\n\n');
}

function resourceCells({ name, unit, capacity, perKey, keys }: Resource, load: number, first: boolean): string[] {
  return [
    resourceTitles[name],
    `${whole(capacity)} ${unit}`,
    counted(Math.floor(keys), 'key'),
    `${decimal(((load * perKey) / capacity) * 100)} %`,
    first ? 'gives first' : '',
  ];
}

function predictionText({ load, predicted, box }: Plan): string {
  const lines = [
    ['requests/s', whole(load.requestsPerSecond)],
    ['p99', `${decimal(predicted.p99Ms)} ms`],
    [
      'CPU',
      `${cores(predicted.socketThreadCores)} of the socket thread's core, ${cores(predicted.allThreadsCores)} of ${box.cores}`,
    ],
    ['live', `${whole(load.liveSessions)} sessions, ${size(predicted.memoryMiB * 2 ** 20)} of memory`],
    ['disk', predicted.diskBytesPerDay === null ? 'not known' : `${size(predicted.diskBytesPerDay)} more each day`],
  ];
  const title = `Predicted for a box with ${counted(load.keys, 'key')}:`;
  return [title, ...lines.map(([name, value]) => `  ${name?.padEnd(11)}${value}`)].join('\n');
}

function checkCells({ figure, unit, predicted, measured, errorPercent }: CheckRow): string[] {
  const shown = (value: number) => (unit === 'requests/s' ? whole(value) : `${cores(value)} ${unit}`);
  return [
    figureTitles[figure],
    shown(predicted),
    measured === null ? 'not told' : shown(measured),
    errorPercent === null ? '-' : `${errorPercent < 0 ? '' : '+'}${decimal(errorPercent)} %`,
  ];
}

function counted(count: number, one: string, many = `${one}${one === one.toUpperCase() ? 'S' : 's'}`): string {
  return `${whole(count)} ${count === 1 ? one : many}`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function decimal(value: number): string {
  return (Math.round(value * 10) / 10).toLocaleString('en-US');
}

function cores(value: number): string {
  return (Math.round(value * 100) / 100).toLocaleString('en-US');
}

function size(bytes: number): string {
  return bytes < 2 ** 30 ? `${decimal(bytes / 2 ** 20)} MiB` : `${decimal(bytes / 2 ** 30)} GiB`;
}
