import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { bounds } from '../../src/bounds.ts';
import { type CapacityMeasurements, readMeasurements } from './benchmark-result.ts';
import {
  type CapacityCheck,
  type CapacityCheckMeasurements,
  type CapacityCheckRequest,
  compareMeasurementWithPlan,
} from './check.ts';
import { CapacityPlanError, readInputFile } from './input-file.ts';
import { type CapacityPlan, type CapacityTarget, planCapacity } from './plan.ts';
import { defaultTrafficMixFile, parseTrafficMix, toTrafficMix } from './traffic-mix.ts';

const bench = join(fileURLToPath(new URL('../..', import.meta.url)), 'bench');
const latestResultFile = join(bench, 'results', 'latest.json');
/** Benchmark result of the machine that bench/README.md describes. */
const referenceResultFile = join(bench, 'capacity', 'reference-result.json');
/** Program that runs a check. Exists only in a checkout, not in the npm package. */
const checkScript = join(bench, 'capacity-check', 'main.ts');

const otherMachineNotice =
  'This machine was not measured: the figures are those of the server above, and other machines differ widely. Run make bench in a checkout to measure this one.';

/**
 * Computes a capacity plan. Without `result`, uses the latest result of `make bench`, or the shipped result of another machine. Throws a
 * `CapacityPlanError` if a file is invalid or no plan is possible.
 *
 * @param files paths of the traffic mix and of the benchmark result
 */
export function createPlan(
  target: CapacityTarget,
  files: { readonly mix?: string; readonly result?: string },
): { readonly plan: CapacityPlan; readonly measurements: CapacityMeasurements } {
  const mix =
    files.mix === undefined
      ? toTrafficMix(defaultTrafficMixFile)
      : readInputFile(files.mix, bounds.mixFileBytesMax, parseTrafficMix);
  const measuredFile = files.result ?? (existsSync(latestResultFile) ? latestResultFile : undefined);
  const measurements = readInputFile(measuredFile ?? referenceResultFile, bounds.benchResultFileBytesMax, (value) =>
    readMeasurements(value, mix),
  );
  const plan = planCapacity(measurements, mix, target);
  const notices = measuredFile === undefined ? [otherMachineNotice] : [];
  return { plan: { ...plan, beyond_measured: [...notices, ...plan.beyond_measured] }, measurements };
}

/**
 * Starts a server, sends the planned load of one server, and compares the plan with the measurements. Throws a `CapacityPlanError` outside a
 * checkout or if the check fails, and the reason of `signal` if `signal` is aborted.
 *
 * @param sessions number of live sessions to create before the load, at most as many as planned
 */
export async function checkPlan(
  { plan, measurements }: ReturnType<typeof createPlan>,
  { seconds, sessions }: { readonly seconds: number; readonly sessions: number },
  signal: AbortSignal,
): Promise<CapacityCheck> {
  if (!existsSync(checkScript)) {
    throw new CapacityPlanError('--check is available only in a checkout; run make capacity-check KEYS=n SLO=ms there');
  }
  const request: CapacityCheckRequest = {
    ratesPerSecond: plan.load.rates_per_second,
    seconds,
    initialSessions: Math.min(sessions, Math.floor(plan.load.live_sessions)),
  };
  // If this process is killed, the IPC channel of the check script closes, and the script exits.
  const child = spawn(process.execPath, [checkScript, JSON.stringify(request)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  signal.addEventListener('abort', () => child.kill('SIGTERM'));
  let output = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  signal.throwIfAborted();
  if (code !== 0) throw new CapacityPlanError('the check failed; the reason is above');
  return compareMeasurementWithPlan(plan, measurements, JSON.parse(output) as CapacityCheckMeasurements);
}
