import { RandomPool } from '../../../src/secrets/random-pool.ts';
import { SubIds } from '../../../src/sessions/sub-id.ts';
import type { Micro } from '../micro.ts';
import { newSecrets } from '../secrets.ts';

const calls = 1_000;

function newSubIds(): SubIds {
  return new SubIds(newSecrets(), 0, new RandomPool());
}

export const subIdMicros: readonly Micro[] = [
  {
    name: 'sessions/sub-id: issue',
    call: 'one id: its bytes, random ones among them, signed and written',
    prepare: () => {
      const subIds = newSubIds();
      return {
        calls,
        run: () => {
          let characters = 0;
          for (let i = 0; i < calls; i++) characters += subIds.issue(1_760_000_000_000 + i, 7, 1, 'live').length;
          return characters;
        },
      };
    },
  },
  {
    name: 'sessions/sub-id: verify',
    call: 'one id: read and its signature checked',
    prepare: () => {
      const subIds = newSubIds();
      const issued = Array.from({ length: calls }, (_, i) => subIds.issue(1_760_000_000_000 + i, 7, 1, 'live'));
      return {
        calls,
        run: () => {
          let genuine = 0;
          for (const subId of issued) if (subIds.verify(subId) !== null) genuine++;
          if (genuine !== calls) throw new Error('an issued id is not taken for genuine');
          return genuine;
        },
      };
    },
  },
];
