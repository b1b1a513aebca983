import { randomBytes } from 'node:crypto';
import { type Click, ClickIds } from '../../../src/clicks/click-id.ts';
import { RandomPool } from '../../../src/secrets/random-pool.ts';
import { subIdBytes } from '../../../src/sessions/sub-id.ts';
import type { Micro } from '../micro.ts';
import { newSecrets } from '../secrets.ts';

const calls = 1_000;

const newClickIds = () => new ClickIds(newSecrets(), new RandomPool());

function drawClicks(): Click[] {
  return Array.from({ length: calls }, (_, i) => ({
    sub: randomBytes(subIdBytes),
    offerId: `lender-offer-${i % 60}`,
    clickedMs: 1_760_000_000_000 + i,
    valueMicros: 4_500_000 + i,
    countable: true,
  }));
}

export const clickIdMicros: readonly Micro[] = [
  {
    name: 'clicks/click-id: issue',
    call: 'one id: put together, encrypted, signed, written',
    prepare: () => {
      const clickIds = newClickIds();
      const clicks = drawClicks();
      return {
        calls,
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
      const clickIds = newClickIds();
      const issued = drawClicks().map((click) => clickIds.issue(click));
      return {
        calls,
        run: () => {
          let genuine = 0;
          for (const text of issued) if (clickIds.read(text) !== null) genuine++;
          if (genuine !== calls) throw new Error('an issued click id is not taken for genuine');
          return genuine;
        },
      };
    },
  },
];
