import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CatalogStore } from '../../src/catalogs/catalog-store.ts';
import type { Matcher } from '../../src/matching/matcher.ts';
import { startMatcher } from '../../src/matching/start-matcher.ts';
import type { FieldVector } from '../../src/verticals/field-vector.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { generateCatalog } from '../../test/support/random-catalog.ts';
import type { BenchContext, BenchPart } from '../bench-part.ts';
import { fixedToday, randomBorrowerVectors } from '../micro/fixtures.ts';
import { median } from '../statistics.ts';

/** Time to rank in the main thread and in one matching thread, for one catalog size and batch size. */
export interface MatcherCrossoverResult {
  readonly offers: number;
  /** Numbers of concurrent requests that are sent to the matching thread in one message. */
  readonly batch: number;
  readonly inThread: MatchingRates;
  readonly pool: MatchingRates;
}

interface MatchingRates {
  /** CPU time of the main thread per request in microseconds; null if the system does not report it. */
  readonly frontEndMicros: number | null;
  readonly perSecond: number;
}

const crossoverSizes = [40, 200, 1_000, 10_000];
/** Catalog sizes of a quick run. The largest catalog is omitted, because building its index takes longer than all measurements. */
const quickCrossoverSizes = crossoverSizes.filter((offers) => offers <= 1_000);
const crossoverBatches = [1, 8, 64];

/**
 * Measures the main thread and the matching thread in turn, and returns the median of the rounds. The indexes of the
 * catalog are built before the measurement.
 */
async function measureCrossover({ quick, scale, folder: parent }: BenchContext): Promise<MatcherCrossoverResult[]> {
  const seconds = scale.seconds / 10;
  const borrowers = randomBorrowerVectors(1_000, 5);
  const results: MatcherCrossoverResult[] = [];
  for (const offers of quick ? quickCrossoverSizes : crossoverSizes) {
    const folder = await mkdtemp(join(parent, 'crossover-'));
    const catalogs = new CatalogStore({
      archiveFolder: folder,
      clock: { wallMs: () => Date.now(), monotonicMs: () => performance.now() },
      cdnUrl: () => '',
      catalogs: [{ vertical: personalLoans, mode: 'live', text: JSON.stringify(generateCatalog(200, offers)) }],
    });
    const matchers = {
      inThread: await startMatcher({ threads: 0, catalogs, verticals: [personalLoans] }),
      pool: await startMatcher({ threads: 1, inThreadOffersMax: 0, catalogs, verticals: [personalLoans] }),
    };
    try {
      for (const matcher of Object.values(matchers)) await warmUp(matcher, catalogs, borrowers);
      for (const batch of crossoverBatches) {
        const rounds = { inThread: [] as MatchingRates[], pool: [] as MatchingRates[] };
        for (let round = 0; round < scale.rounds; round++) {
          for (const kind of ['inThread', 'pool'] as const) {
            rounds[kind].push(await measureMatching(seconds, matchers[kind], catalogs, borrowers, batch));
          }
        }
        results.push({ offers, batch, inThread: medianRates(rounds.inThread), pool: medianRates(rounds.pool) });
      }
    } finally {
      for (const matcher of Object.values(matchers)) await matcher.close();
      await rm(folder, { recursive: true });
    }
  }
  return results;
}

async function warmUp(matcher: Matcher, catalogs: CatalogStore, borrowers: readonly FieldVector[]): Promise<void> {
  for (let pass = 0; pass < 3; pass++) {
    for (let at = 0; at < borrowers.length; at += 50) {
      await Promise.all(borrowers.slice(at, at + 50).map((borrower) => matchOne(matcher, catalogs, borrower)));
    }
  }
}

async function measureMatching(
  seconds: number,
  matcher: Matcher,
  catalogs: CatalogStore,
  borrowers: readonly FieldVector[],
  batch: number,
): Promise<MatchingRates> {
  const cpuBefore = callingThreadCpuMicros();
  const startMs = performance.now();
  let requests = 0;
  while (performance.now() - startMs < seconds * 1_000) {
    const asked = Array.from({ length: batch }, (_, at) => borrowers[(requests + at) % borrowers.length]!);
    await Promise.all(asked.map((borrower) => matchOne(matcher, catalogs, borrower)));
    requests += batch;
  }
  const cpuAfter = callingThreadCpuMicros();
  return {
    frontEndMicros: cpuBefore === null || cpuAfter === null ? null : (cpuAfter - cpuBefore) / requests,
    perSecond: requests / ((performance.now() - startMs) / 1_000),
  };
}

async function matchOne(matcher: Matcher, catalogs: CatalogStore, borrower: FieldVector): Promise<void> {
  const catalogVersion = catalogs.currentCatalog(personalLoans.number, 'live').version;
  const ranking = await matcher.match({ catalogVersion, borrower, today: fixedToday });
  if (ranking === null) throw new Error('the matcher rejected the request');
}

/**
 * CPU time of the calling thread in microseconds; null outside Linux. The resolution is higher than that of
 * `/proc/<pid>/stat`.
 */
function callingThreadCpuMicros(): number | null {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1_000;
  } catch {
    return null;
  }
}

function medianRates(rounds: readonly MatchingRates[]): MatchingRates {
  const cpu = rounds.flatMap(({ frontEndMicros }) => frontEndMicros ?? []);
  return {
    frontEndMicros: cpu.length < rounds.length ? null : median(cpu),
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
  };
}

export const matcherCrossoverPart: BenchPart = {
  name: 'crossover',
  description: 'ranking in the main thread and in a matching thread',
  measure: async (context) => {
    context.progress.showStep('crossover: ranking in the main thread and in a matching thread');
    return { crossover: await measureCrossover(context) };
  },
};
