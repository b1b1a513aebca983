import { randomBytes } from 'node:crypto';
import { type ClickIdPayload, ClickIds } from '../../../src/clicks/click-id.ts';
import { RandomPool } from '../../../src/secrets/random-pool.ts';
import { subIdByteLength } from '../../../src/sessions/sub-id.ts';
import type { MicroBenchmark } from '../micro.ts';
import { createSecretRing } from '../secrets.ts';

const clickIdCalls = 1_000;

const createClickIds = () => new ClickIds(createSecretRing(), new RandomPool());

function randomClicks(): ClickIdPayload[] {
  return Array.from({ length: clickIdCalls }, (_, i) => ({
    sub: randomBytes(subIdByteLength),
    offerId: `lender-offer-${i % 60}`,
    clickedMs: 1_760_000_000_000 + i,
    valueMicros: 4_500_000 + i,
    countable: true,
  }));
}

export const clickIdBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'clicks/click-id: issue',
    call: 'one id: put together, encrypted, signed, written',
    prepare: () => {
      const clickIds = createClickIds();
      const clicks = randomClicks();
      return {
        calls: clickIdCalls,
        run: () => {
          let characters = 0;
          for (const click of clicks) characters += clickIds.issue(click).length;
          return characters;
        },
      };
    },
  },
  {
    name: 'clicks/click-id: read',
    call: 'one id: read, its signature checked, decrypted',
    prepare: () => {
      const clickIds = createClickIds();
      const issued = randomClicks().map((click) => clickIds.issue(click));
      return {
        calls: clickIdCalls,
        run: () => {
          let genuine = 0;
          for (const text of issued) if (clickIds.verify(text) !== null) genuine++;
          if (genuine !== clickIdCalls) throw new Error('an issued click id is not taken for genuine');
          return genuine;
        },
      };
    },
  },
];
