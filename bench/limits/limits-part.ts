import type { KeyLimitOverrides } from '../../src/access/key-limits.ts';
import { bounds } from '../../src/bounds.ts';
import { autocannonClient } from '../load/autocannon-client.ts';
import type { BenchContext, BenchPart } from '../part.ts';
import type { LimitResult } from '../result/limit-result.ts';
import { createOwnedFolder } from '../target/owned-folder.ts';
import { startServiceTarget } from '../target/service-target.ts';
import { describeLimitFailure } from './limit-fault.ts';
import { type LimitScenario, limitScenarios } from './limit-scenario.ts';
import { measureLimit } from './measure-limit.ts';

const limitConnectionsMin = 64;
const excessRequests = { full: 20_000, quick: 2_000 };

const unlimited: KeyLimitOverrides = {
  requestsPerMinute: bounds.limitPerMinuteMax,
  analyticsPerMinute: bounds.limitPerMinuteMax,
  sessionsPerDay: bounds.limitPerDayMax,
};

export const limitsPart: BenchPart = {
  name: 'limits',
  description: 'more requests than the limits let through, from many connections at once',
  measure: async (context) => {
    // Only autocannon distinguishes every status, so the client of the other loads is not used here.
    const withAutocannon = { ...context, client: autocannonClient };
    return { limits: await measureLimits(limitScenarios, withAutocannon, context.quick ? excessRequests.quick : excessRequests.full) };
  },
  findProblems: ({ limits = [] }) => limits.map(describeLimitFailure).filter((fault) => fault !== null),
};

/** Each with a key of its own, one after the other, on one server. */
export async function measureLimits(
  scenarios: readonly LimitScenario[],
  { scale, client, folder, progress }: Pick<BenchContext, 'scale' | 'client' | 'folder' | 'progress'>,
  more: number,
): Promise<LimitResult[]> {
  const owned = await createOwnedFolder(folder, 'limits-');
  try {
    progress.step('limits: starting the service');
    const ownLimits = [unlimited, ...scenarios.map(({ keyLimits }) => keyLimits)];
    const service = await startServiceTarget({ folder: owned.path, keys: 1, ownLimits });
    try {
      const [, freeKey, ...keys] = service.keys;
      const results: LimitResult[] = [];
      for (const [at, scenario] of scenarios.entries()) {
        results.push(
          await measureLimit(scenario, {
            service,
            client,
            key: keys[at]!,
            unlimitedKey: freeKey!,
            connections: Math.max(limitConnectionsMin, scale.connections),
            excess: more,
            seconds: scale.seconds,
            folder: owned.path,
            progress,
          }),
        );
      }
      return results;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`limits: ${message}\nThe service said: ${service.logTail()}`, { cause: error });
    } finally {
      await service.close();
    }
  } finally {
    await owned.remove();
  }
}
