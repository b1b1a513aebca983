import type { Measurement } from '../result/measurement.ts';
import type { ProcessUsage } from './process-usage.ts';

/** CPU time a server took for one of so many requests, from before the load until it was quiet again; nulls where nobody tells. */
export function cpuPerRequest(
  before: ProcessUsage | null,
  after: ProcessUsage | null,
  requests: number,
): Pick<Measurement, 'cpuMicros' | 'mainThreadCpuMicros'> {
  if (before === null || after === null) return { cpuMicros: null, mainThreadCpuMicros: null };
  const micros = (seconds: number) => (seconds * 1e6) / requests;
  return {
    cpuMicros: micros(after.allThreads - before.allThreads),
    mainThreadCpuMicros: micros(after.mainThread - before.mainThread),
  };
}
