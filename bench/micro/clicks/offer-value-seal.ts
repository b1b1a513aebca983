import { randomBytes } from 'node:crypto';
import { ClickTokenCipher } from '../../../src/clicks/offer-value-seal.ts';
import { RandomPool } from '../../../src/secrets/random-pool.ts';
import { subIdByteLength } from '../../../src/sessions/sub-id.ts';
import type { MicroBenchmark } from '../micro.ts';
import { createSecretRing } from '../secrets.ts';

const clickTokenCalls = 500;
/** As long as the version of a catalog is. */
const basis = { catalogVersion: '0123456789abcdef', creditBand: 3 };

const createClickTokenCipher = () => new ClickTokenCipher(createSecretRing(), new RandomPool());
const randomClickSubs = () => Array.from({ length: clickTokenCalls }, () => randomBytes(subIdByteLength));

export const clickTokenBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'clicks/offer-value-seal: seal',
    call: 'one value for a session, encrypted and written',
    prepare: () => {
      const seal = createClickTokenCipher();
      const subs = randomClickSubs();
      return {
        calls: clickTokenCalls,
        run: () => {
          let characters = 0;
          for (const sub of subs) characters += seal.encrypt(sub, basis).length;
          return characters;
        },
      };
    },
  },
  {
    name: 'clicks/offer-value-seal: open',
    call: 'one value of a session, read and decrypted',
    prepare: () => {
      const seal = createClickTokenCipher();
      const sealed = randomClickSubs().map((sub) => ({ sub, text: seal.encrypt(sub, basis) }));
      return {
        calls: clickTokenCalls,
        run: () => {
          let bands = 0;
          for (const { sub, text } of sealed) bands += seal.decrypt(sub, text)?.creditBand ?? 0;
          if (bands !== clickTokenCalls * basis.creditBand) throw new Error('a sealed value was not opened');
          return bands;
        },
      };
    },
  },
];
