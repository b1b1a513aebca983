import type {
  CapacityCheckResult,
  CapacityCheckRow,
  CapacityPlan,
  ResourceName,
  ServerResource,
} from '../../capacity/plan.ts';
import { formatTable } from '../output.ts';

/** Converts a capacity plan to JSON. Rates are per second, memory sizes are in MiB, CPU times are in cores. */
export function planToJson(plan: CapacityPlan, check: CapacityCheckResult | null) {
  const { request, box, key, load, predicted } = plan;
  return {
    keys: request.keys,
    slo_p99_ms: request.sloP99Ms,
    headroom: request.headroom,
    boxes: plan.boxes,
    keys_per_box: plan.keysPerBox,
    bottleneck: plan.bottleneck,
    resources: plan.resources.map(({ name, unit, capacity, perKey, keys }) => ({
      name,
      unit,
      capacity,
      per_key: perKey,
      keys,
      used_share: (load.keys * perKey) / capacity,
    })),
    key: { bound_by: key.boundBy, ...loadToJson(key) },
    box: {
      cpu: box.cpu,
      cores: box.cores,
      memory_mib: box.memoryMiB,
      measured_at: box.measuredAt,
      commit: box.commit,
      quick: box.quick,
    },
    load: { keys: load.keys, ...loadToJson(load) },
    predicted: {
      p99_ms: predicted.p99Ms,
      socket_thread_cores: predicted.socketThreadCores,
      all_threads_cores: predicted.allThreadsCores,
      memory_mib: predicted.memoryMiB,
      disk_bytes_per_day: predicted.diskBytesPerDay,
    },
    beyond_measured: plan.caveats,
    check: check === null ? null : checkToJson(check),
  };
}

function loadToJson(
  load: Pick<CapacityPlan['load'], 'requestsPerSecond' | 'ratesPerSecond' | 'sessionsPerDay' | 'liveSessions'>,
) {
  return {
    requests_per_second: load.requestsPerSecond,
    rates_per_second: load.ratesPerSecond,
    sessions_per_day: load.sessionsPerDay,
    live_sessions: load.liveSessions,
  };
}

function checkToJson({ rows, measurements, carried }: CapacityCheckResult) {
  return {
    carried,
    seconds: measurements.seconds,
    keys: measurements.keys,
    live_sessions: measurements.liveSessions,
    resident_mib: measurements.residentMiB,
    offered_per_second: measurements.offeredPerSecond,
    refused: measurements.refused,
    failed: measurements.failed,
    client_saturated: measurements.clientSaturated,
    figures: rows.map(({ figure, unit, predicted, measured, errorPercent }) => ({
      figure,
      unit,
      predicted,
      measured,
      error_percent: errorPercent,
    })),
  };
}

const resourceTitles: Readonly<Record<ResourceName, string>> = {
  'socket-thread': 'CPU, socket thread',
  'all-cores': 'CPU, all cores',
  latency: 'p99 within the target',
  'session-ceiling': 'live sessions, limit',
  memory: 'live sessions, memory',
};

const checkRowTitles: Readonly<Record<CapacityCheckRow['figure'], string>> = {
  rate: 'requests/s',
  p99: 'p99',
  'socket-thread': 'CPU, socket thread',
  'all-threads': 'CPU, all threads',
  memory: 'memory after GC',
};

export function formatPlan(plan: CapacityPlan): string {
  const { request, box, key, load, boxes, keysPerBox, bottleneck } = plan;
  const commit = box.commit === null ? '' : `, commit ${box.commit}`;
  return [
    [
      `${formatCount(request.keys, 'key')}, p99 within ${request.sloP99Ms} ms: ${formatCount(boxes, 'server')}`,
      `One server can serve ${formatCount(keysPerBox, 'key')}. Bottleneck: ${resourceTitles[bottleneck]}.`,
    ].join('\n'),
    [
      [
        'server',
        `${box.cpu}, ${formatCount(box.cores, 'core')}, ${formatBytes(box.memoryMiB * 2 ** 20)}, measured ${box.measuredAt}${commit}`,
      ],
      ['key', `${formatTenths(key.requestsPerSecond)} requests/s at most (limit: ${key.boundBy})`],
      [
        '',
        `${formatInteger(key.sessionsPerDay)} sessions a day, ${formatInteger(key.liveSessions)} of them live at the same time`,
      ],
      ['reserve', `${formatTenths(request.headroom * 100)} % of every capacity`],
    ]
      .map(([name, value]) => `${name?.padEnd(11)}${value}`)
      .join('\n'),
    formatTable(
      ['RESOURCE OF ONE SERVER', 'CAPACITY', 'ENOUGH FOR', `USED BY ${formatCount(load.keys, 'KEY')}`, ''],
      plan.resources.map((resource) => resourceCells(resource, load.keys, resource.name === bottleneck)),
    ),
    formatPrediction(plan),
    ['Not covered by the measurements:', ...plan.caveats.map((sentence) => `- ${sentence}`)].join('\n'),
  ].join('\n\n');
}

export function formatCheck({ request }: CapacityPlan, { rows, measurements, carried }: CapacityCheckResult): string {
  const { seconds, keys, liveSessions, refused, failed, offeredPerSecond, clientSaturated, residentMiB } = measurements;
  const verdict = carried ? 'met' : 'did NOT meet';
  return [
    `Checked for ${formatTenths(seconds)} s: the server ${verdict} the target of p99 within ${request.sloP99Ms} ms at ${formatInteger(offeredPerSecond)} requests/s.`,
    formatTable(['FIGURE', 'PREDICTED', 'MEASURED', 'ERROR'], rows.map(checkCells)),
    [
      `${formatCount(keys, 'key')}, ${formatCount(liveSessions, 'live session')} at the end, ${formatInteger(refused)} refused, ${formatInteger(failed)} failed.`,
      ...(residentMiB === null
        ? []
        : [`Resident memory before garbage collection: ${formatBytes(residentMiB * 2 ** 20)}.`]),
      ...(clientSaturated ? ['The client was saturated, so the measured latency includes delays of the client.'] : []),
    ].join('\n'),
  ].join('\n\n');
}

function resourceCells(
  { name, unit, capacity, perKey, keys }: ServerResource,
  load: number,
  isBottleneck: boolean,
): string[] {
  return [
    resourceTitles[name],
    `${formatInteger(capacity)} ${unit}`,
    formatCount(Math.floor(keys), 'key'),
    `${formatTenths(((load * perKey) / capacity) * 100)} %`,
    isBottleneck ? 'bottleneck' : '',
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
    ['disk', predicted.diskBytesPerDay === null ? 'unknown' : `${formatBytes(predicted.diskBytesPerDay)} more per day`],
  ];
  const title = `Predicted for a server with ${formatCount(load.keys, 'key')}:`;
  return [title, ...lines.map(([name, value]) => `  ${name?.padEnd(11)}${value}`)].join('\n');
}

function checkCells({ figure, unit, predicted, measured, errorPercent }: CapacityCheckRow): string[] {
  const formatValue = (value: number) =>
    unit === 'requests/s' ? formatInteger(value) : `${formatHundredths(value)} ${unit}`;
  return [
    checkRowTitles[figure],
    formatValue(predicted),
    measured === null ? 'unknown' : formatValue(measured),
    errorPercent === null ? '-' : `${errorPercent < 0 ? '' : '+'}${formatTenths(errorPercent)} %`,
  ];
}

function formatCount(count: number, one: string): string {
  const plural = one === one.toUpperCase() ? 'S' : 's';
  return `${formatInteger(count)} ${one}${count === 1 ? '' : plural}`;
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
