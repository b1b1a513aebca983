import type { ProcessFigures } from '../result/measurement.ts';
import type { Target } from './target.ts';

/** What a server holds in memory once its garbage has been collected; null where it cannot tell. */
export async function readMemory({ probe }: Target): Promise<Pick<ProcessFigures, 'heapUsedMiB' | 'rssMiB'> | null> {
  await probe.collect();
  await probe.begin();
  const figures = await probe.end();
  if (figures === null) return null;
  const { heapUsedMiB, rssMiB } = figures;
  return { heapUsedMiB, rssMiB };
}
