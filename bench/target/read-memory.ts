import type { ProcessFigures } from '../result/measurement.ts';
import type { LoadTarget } from './target.ts';

/** What a server holds in memory once its garbage has been collected; null where it cannot tell. */
export async function readMemoryAfterGc({ probe }: LoadTarget): Promise<Pick<ProcessFigures, 'heapUsedMiB' | 'rssMiB'> | null> {
  await probe.collectGarbage();
  await probe.start();
  const figures = await probe.stop();
  if (figures === null) return null;
  const { heapUsedMiB, rssMiB } = figures;
  return { heapUsedMiB, rssMiB };
}
