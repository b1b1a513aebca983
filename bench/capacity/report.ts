import type { CapacityCheck, CheckFigure } from './check.ts';
import type { CapacityPlan, ResourceName } from './plan.ts';

const resourceTitles: Readonly<Record<ResourceName, string>> = {
  'socket-thread': 'CPU, socket thread',
  'all-cores': 'CPU, all cores',
  latency: 'p99 within the target',
  'session-ceiling': 'live sessions, limit',
  memory: 'live sessions, memory',
};

const figureTitles: Readonly<Record<CheckFigure, string>> = {
  rate: 'requests/s',
  p99: 'p99',
  'socket-thread': 'CPU, socket thread',
  'all-threads': 'CPU, all threads',
  memory: 'memory after GC',
};

/** Formats rows as a table with aligned columns. */
type TableFormatter = (headings: readonly string[], rows: readonly (readonly string[])[]) => string;

export function formatPlan(plan: CapacityPlan, formatTable: TableFormatter): string {
  const { box, key, load, keys_per_box: perBox, keys_per_box_if_spread: ifSpread, bottleneck } = plan;
  const spread =
    ifSpread > perBox ? ` (${formatNumber(ifSpread)} if the sessions of a day start evenly over the day)` : '';
  const commit = box.commit === null ? '' : `, commit ${box.commit}`;
  const machine = `${box.cpu}, ${formatCount(box.cores, 'core')}, ${formatMiB(box.memory_mib)}`;
  const clicks = key.rates_per_second.click;
  return [
    [
      `${formatCount(plan.keys, 'key')}, p99 within ${plan.slo_p99_ms} ms: ${formatCount(plan.boxes, 'server')}`,
      `One server can serve ${formatCount(perBox, 'key')}${spread}. Bottleneck: ${resourceTitles[bottleneck]}.`,
    ].join('\n'),
    formatLines(
      [
        ['server', `${machine}, measured ${box.measured_at}${commit}`],
        [
          'key',
          `${formatNumber(key.requests_per_second - clicks, 2)} requests/s at most (limit: ${key.bound_by}), and ${formatNumber(clicks, 2)} clicks/s, which have no limit`,
        ],
        [
          '',
          `${formatNumber(key.sessions_per_day)} sessions a day, ${formatNumber(key.live_sessions)} of them live at the same time`,
        ],
        ['reserve', `${formatNumber(plan.headroom * 100, 1)} % of every capacity`],
      ],
      11,
    ),
    formatTable(
      ['RESOURCE OF ONE SERVER', 'CAPACITY', 'ENOUGH FOR', `USED BY ${formatCount(load.keys, 'KEY')}`, ''],
      plan.resources.map(({ name, unit, capacity, keys, used_share: used }) => [
        resourceTitles[name],
        `${formatNumber(capacity)} ${unit}`,
        formatCount(Math.floor(keys), 'key'),
        `${formatNumber(used * 100, 1)} %`,
        name === bottleneck ? 'bottleneck' : '',
      ]),
    ),
    formatPrediction(plan),
    ['Not covered by the measurements:', ...plan.beyond_measured.map((sentence) => `- ${sentence}`)].join('\n'),
  ].join('\n\n');
}

function formatPrediction({ load, predicted, box }: CapacityPlan): string {
  const { disk_bytes_per_day: disk } = predicted;
  const socketThread = formatNumber(predicted.socket_thread_cores, 2);
  const allThreads = formatNumber(predicted.all_threads_cores, 2);
  const lines = formatLines(
    [
      ['  requests/s', formatNumber(load.requests_per_second)],
      ['  p99', `${formatNumber(predicted.p99_ms, 1)} ms`],
      ['  CPU', `${socketThread} of the socket thread's core, ${allThreads} of ${box.cores}`],
      ['  live', `${formatNumber(load.live_sessions)} sessions, ${formatMiB(predicted.memory_mib)} of memory`],
      ['  disk', disk === null ? 'unknown' : `${formatMiB(disk / 2 ** 20)} more per day`],
    ],
    13,
  );
  return `Predicted for a server with ${formatCount(load.keys, 'key')}:\n${lines}`;
}

export function formatCapacityCheck(
  { slo_p99_ms: sloMs }: CapacityPlan,
  check: CapacityCheck,
  formatTable: TableFormatter,
): string {
  const { verdict, resident_mib: residentMiB } = check;
  const result = { met: 'met', missed: 'did NOT meet', inconclusive: 'did not meet' }[verdict];
  const rows = check.figures.map(({ figure, unit, predicted, measured, error_percent: error }) => {
    const format = (value: number) =>
      unit === 'requests/s' ? formatNumber(value) : `${formatNumber(value, 2)} ${unit}`;
    return [
      figureTitles[figure],
      format(predicted),
      measured === null ? 'unknown' : format(measured),
      error === null ? '-' : `${error < 0 ? '' : '+'}${formatNumber(error, 1)} %`,
    ];
  });
  const lines = [
    `${formatCount(check.keys, 'key')}, ${formatCount(check.live_sessions, 'live session')} at the end, ${formatNumber(check.refused)} refused, ${formatNumber(check.failed)} failed.`,
  ];
  if (residentMiB !== null) lines.push(`Resident memory before garbage collection: ${formatMiB(residentMiB)}.`);
  if (check.client_saturated) {
    lines.push('The client was saturated, so the measured latency includes delays of the client.');
  }
  if (verdict === 'inconclusive') {
    lines.push(
      `INCONCLUSIVE: ${formatNumber(check.machine_idle_share * 100)} % of the machine's CPU time was idle. The client or other programs may be the cause; repeat the check on an idle machine with more cores.`,
    );
  }
  return [
    `Checked for ${formatNumber(check.seconds, 1)} s: the server ${result} the target of p99 within ${sloMs} ms at ${formatNumber(check.offered_per_second)} requests/s.`,
    formatTable(['FIGURE', 'PREDICTED', 'MEASURED', 'ERROR'], rows),
    lines.join('\n'),
  ].join('\n\n');
}

/** Formats names and values as lines. `nameWidth` is the width of the column of names, in characters. */
function formatLines(rows: readonly (readonly [name: string, value: string])[], nameWidth: number): string {
  return rows.map(([name, value]) => `${name.padEnd(nameWidth)}${value}`).join('\n');
}

function formatCount(count: number, one: string): string {
  const plural = one === one.toUpperCase() ? 'S' : 's';
  return `${formatNumber(count)} ${one}${count === 1 ? '' : plural}`;
}

/** Formats a number with at most `decimals` digits after the decimal point, and with a comma between thousands. */
function formatNumber(value: number, decimals = 0): string {
  return (Math.round(value * 10 ** decimals) / 10 ** decimals).toLocaleString('en-US');
}

function formatMiB(mebibytes: number): string {
  return mebibytes < 1024 ? `${formatNumber(mebibytes, 1)} MiB` : `${formatNumber(mebibytes / 1024, 1)} GiB`;
}
