import { generateCatalog } from '../../test/support/random-catalog.ts';
import type { BenchContext, BenchPart, BenchScale } from '../bench-part.ts';
import { Progress } from '../bench-part.ts';
import type { LoadClient } from '../load/load-client.ts';
import { chooseLoadClients } from '../load/load-clients.ts';
import { runOpenLoop } from '../open-loop/run-open-loop.ts';
import { benchParts } from '../parts.ts';
import type { BenchResult } from '../result/bench-result.ts';
import { mergeFindings } from '../result/bench-result.ts';
import type { CheckedRatio } from './ratios.ts';
import { ratiosOfResult } from './ratios.ts';

/** Scale of one run, which takes about a minute. Runs are repeated with new servers for a reliable result. */
const checkRunScale: BenchScale = {
  rounds: 1,
  seconds: 0.6,
  connections: 64,
  roundRequests: 8_000,
  keys: 1_000,
  historySessions: 1_000,
  liveSessions: 1_000,
};
const catalogSeed = 200;

/** Parts whose ratios are compared. */
export const checkedParts: readonly BenchPart[] = benchParts.filter(
  ({ name, group }) => group === 'routes' || name === 'micro',
);

interface MeasureOptions {
  readonly repeat: number;
  readonly client: LoadClient['name'] | undefined;
  /** Folder on the measured disk. */
  readonly folder: string;
  /** Names of the parts to run; undefined for all parts. */
  readonly only: ReadonlySet<string> | undefined;
}

/** Measures the ratios in several runs. Each run contains all parts. */
export async function measureRatios({
  repeat,
  client: named,
  folder,
  only,
}: MeasureOptions): Promise<CheckedRatio[][]> {
  const { client, crossCheck } = await chooseLoadClients(named, process.env.PATH ?? '');
  const context: BenchContext = {
    scale: checkRunScale,
    quick: true,
    // The client with the lower CPU cost leaves more CPU time for the servers.
    client: crossCheck ?? client,
    sendOpenLoop: runOpenLoop,
    folder,
    progress: new Progress(),
    generateCatalogText: (offers) => JSON.stringify(generateCatalog(catalogSeed, offers)),
  };
  const parts = checkedParts.filter(({ name }) => only === undefined || only.has(name));
  const runs: CheckedRatio[][] = [];
  while (runs.length < repeat) {
    let found: Pick<BenchResult, 'routes' | 'micro'> = { routes: [], micro: [] };
    for (const part of parts) found = mergeFindings(found as BenchResult, await part.measure(context));
    runs.push(ratiosOfResult(found));
    context.progress.done(`run ${runs.length} of ${repeat}: done`);
  }
  return runs;
}
