import { Bench } from 'tinybench';
import { gatekeeperMicro } from './access/gatekeeper.ts';
import { fileEventLogMicro } from './events/file-event-log.ts';
import type { Micro, MicroResult } from './micro.ts';
import { matchMicros } from './offers/match.ts';
import { offerJsonMicro } from './offers/offer-json.ts';
import { subIdMicros } from './sessions/sub-id.ts';
import { validateFieldsMicro } from './verticals/validate-fields.ts';

const micros: readonly Micro[] = [
  ...subIdMicros,
  gatekeeperMicro,
  validateFieldsMicro,
  fileEventLogMicro,
  ...matchMicros,
  offerJsonMicro,
];

/** Times every hot function, one after the other. */
export async function runMicros(quick: boolean): Promise<MicroResult[]> {
  const time = quick ? 100 : 1_000;
  const results: MicroResult[] = [];
  for (const micro of micros) {
    const prepared = await micro.prepare();
    const bench = new Bench({ time, warmupTime: time / 2, throws: true });
    bench.add(micro.name, () => prepared.run());
    const [task] = await bench.run();
    await prepared.close?.();
    const result = task!.result;
    if (result.state !== 'completed') throw new Error(`${micro.name} did not complete`);
    const nsOfCall = (ms: number) => (ms * 1e6) / prepared.calls;
    results.push({ name: micro.name, medianNs: nsOfCall(result.latency.p50), p99Ns: nsOfCall(result.latency.p99) });
  }
  return results;
}
