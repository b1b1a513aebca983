import type {
  CapacityCheckResult,
  CapacityCheckRow,
  CapacityPlan,
  ResourceName,
  ServerResource,
} from '../../capacity/plan.ts';
import { formatNameValuePairs, formatTable } from '../output.ts';

/** Converts a capacity plan to JSON. Rates are per second, memory sizes are in MiB, CPU times are in cores. */
export function capacityPlanToJson(plan: CapacityPlan, check: CapacityCheckResult | null) {
  const { request, box, key, load, predicted } = plan;
  return {
    keys: request.keys,
    slo_p99_ms: request.sloP99Ms,
    headroom: request.headroom,
    boxes: plan.boxes,
    keys_per_box: plan.keysPerBox,
    keys_per_box_if_spread: plan.keysPerBoxIfSpread,
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

function checkToJson({ rows, measurements, verdict }: CapacityCheckResult) {
  return {
    verdict,
    carried: verdict === 'met',
    seconds: measurements.seconds,
    keys: measurements.keys,
    live_sessions: measurements.liveSessions,
    resident_mib: measurements.residentMiB,
    offered_per_second: measurements.offeredPerSecond,
    refused: measurements.refused,
    failed: measurements.failed,
    client_saturated: measurements.clientSaturated,
    machine_idle_share: measurements.machineIdleShare,
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
  const { request, box, key, load, boxes, keysPerBox, keysPerBoxIfSpread, bottleneck } = plan;
  const ifSpread =
    keysPerBoxIfSpread > keysPerBox
      ? ` (${formatNumber(keysPerBoxIfSpread)} if the sessions of a day start evenly over the day)`
      : '';
  const commit = box.commit === null ? '' : `, commit ${box.commit}`;
  const machine = `${box.cpu}, ${formatCount(box.cores, 'core')}, ${formatBytes(box.memoryMiB * 2 ** 20)}`;
  return [
    [
      `${formatCount(request.keys, 'key')}, p99 within ${request.sloP99Ms} ms: ${formatCount(boxes, 'server')}`,
      `One server can serve ${formatCount(keysPerBox, 'key')}${ifSpread}. Bottleneck: ${resourceTitles[bottleneck]}.`,
    ].join('\n'),
    formatNameValuePairs(
      [
        ['server', `${machine}, measured ${box.measuredAt}${commit}`],
        [
          'key',
          `${formatNumber(key.requestsPerSecond - key.ratesPerSecond.click, 2)} requests/s at most (limit: ${key.boundBy}), and ${formatNumber(key.ratesPerSecond.click, 2)} clicks/s, which have no limit`,
        ],
        [
          '',
          `${formatNumber(key.sessionsPerDay)} sessions a day, ${formatNumber(key.liveSessions)} of them live at the same time`,
        ],
        ['reserve', `${formatNumber(request.headroom * 100, 1)} % of every capacity`],
      ],
      11,
    ),
    formatTable(
      ['RESOURCE OF ONE SERVER', 'CAPACITY', 'ENOUGH FOR', `USED BY ${formatCount(load.keys, 'KEY')}`, ''],
      plan.resources.map((resource) => resourceCells(resource, load.keys, resource.name === bottleneck)),
    ),
    formatPrediction(plan),
    ['Not covered by the measurements:', ...plan.caveats.map((sentence) => `- ${sentence}`)].join('\n'),
  ].join('\n\n');
}

export function formatCapacityCheck(
  { request }: CapacityPlan,
  { rows, measurements, verdict }: CapacityCheckResult,
): string {
  const {
    seconds,
    keys,
    liveSessions,
    refused,
    failed,
    offeredPerSecond,
    clientSaturated,
    residentMiB,
    machineIdleShare,
  } = measurements;
  const result = { met: 'met', missed: 'did NOT meet', inconclusive: 'did not meet' }[verdict];
  return [
    `Checked for ${formatNumber(seconds, 1)} s: the server ${result} the target of p99 within ${request.sloP99Ms} ms at ${formatNumber(offeredPerSecond)} requests/s.`,
    formatTable(['FIGURE', 'PREDICTED', 'MEASURED', 'ERROR'], rows.map(checkCells)),
    [
      `${formatCount(keys, 'key')}, ${formatCount(liveSessions, 'live session')} at the end, ${formatNumber(refused)} refused, ${formatNumber(failed)} failed.`,
      ...(residentMiB === null
        ? []
        : [`Resident memory before garbage collection: ${formatBytes(residentMiB * 2 ** 20)}.`]),
      ...(clientSaturated ? ['The client was saturated, so the measured latency includes delays of the client.'] : []),
      ...(verdict === 'inconclusive'
        ? [
            `INCONCLUSIVE: ${formatNumber(machineIdleShare * 100)} % of the machine's CPU time was idle. The client or other programs may be the cause; repeat the check on an idle machine with more cores.`,
          ]
        : []),
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
    `${formatNumber(capacity)} ${unit}`,
    formatCount(Math.floor(keys), 'key'),
    `${formatNumber(((load * perKey) / capacity) * 100, 1)} %`,
    isBottleneck ? 'bottleneck' : '',
  ];
}

function formatPrediction({ load, predicted, box }: CapacityPlan): string {
  const { p99Ms, socketThreadCores, allThreadsCores, memoryMiB, diskBytesPerDay } = predicted;
  const cores = `${formatNumber(socketThreadCores, 2)} of the socket thread's core, ${formatNumber(allThreadsCores, 2)}`;
  const lines = formatNameValuePairs(
    [
      ['  requests/s', formatNumber(load.requestsPerSecond)],
      ['  p99', `${formatNumber(p99Ms, 1)} ms`],
      ['  CPU', `${cores} of ${box.cores}`],
      ['  live', `${formatNumber(load.liveSessions)} sessions, ${formatBytes(memoryMiB * 2 ** 20)} of memory`],
      ['  disk', diskBytesPerDay === null ? 'unknown' : `${formatBytes(diskBytesPerDay)} more per day`],
    ],
    13,
  );
  return `Predicted for a server with ${formatCount(load.keys, 'key')}:\n${lines}`;
}

function checkCells({ figure, unit, predicted, measured, errorPercent }: CapacityCheckRow): string[] {
  const formatValue = (value: number) =>
    unit === 'requests/s' ? formatNumber(value) : `${formatNumber(value, 2)} ${unit}`;
  return [
    checkRowTitles[figure],
    formatValue(predicted),
    measured === null ? 'unknown' : formatValue(measured),
    errorPercent === null ? '-' : `${errorPercent < 0 ? '' : '+'}${formatNumber(errorPercent, 1)} %`,
  ];
}

function formatCount(count: number, one: string): string {
  const plural = one === one.toUpperCase() ? 'S' : 's';
  return `${formatNumber(count)} ${one}${count === 1 ? '' : plural}`;
}

/** Formats a number with at most `decimals` digits after the decimal point, and with a comma between thousands. */
function formatNumber(value: number, decimals = 0): string {
  return (Math.round(value * 10 ** decimals) / 10 ** decimals).toLocaleString('en-US');
}

function formatBytes(bytes: number): string {
  return bytes < 2 ** 30 ? `${formatNumber(bytes / 2 ** 20, 1)} MiB` : `${formatNumber(bytes / 2 ** 30, 1)} GiB`;
}
