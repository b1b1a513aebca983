import { RandomPool } from '../../../src/secrets/random-pool.ts';
import { SubIds } from '../../../src/sessions/sub-id.ts';
import type { MicroBenchmark } from '../micro.ts';
import { createSecretRing } from '../secrets.ts';

const subIdCalls = 1_000;

function createSubIds(): SubIds {
  return new SubIds(createSecretRing(), 0, new RandomPool());
}

export const subIdBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'sessions/sub-id: issue',
    call: 'one id: its bytes, random ones among them, signed and written',
    prepare: () => {
      const subIds = createSubIds();
      return {
        calls: subIdCalls,
        run: () => {
          let characters = 0;
          for (let i = 0; i < subIdCalls; i++) characters += subIds.issue(1_760_000_000_000 + i, 7, 1, 'live').length;
          return characters;
        },
      };
    },
  },
  {
    name: 'sessions/sub-id: verify',
    call: 'one id: read and its signature checked',
    prepare: () => {
      const subIds = createSubIds();
      const issued = Array.from({ length: subIdCalls }, (_, i) => subIds.issue(1_760_000_000_000 + i, 7, 1, 'live'));
      return {
        calls: subIdCalls,
        run: () => {
          let genuine = 0;
          for (const subId of issued) if (subIds.verify(subId) !== null) genuine++;
          if (genuine !== subIdCalls) throw new Error('an issued id is not taken for genuine');
          return genuine;
        },
      };
    },
  },
];
