import { randomBytes } from 'node:crypto';
import { OfferValueSeal } from '../../../src/clicks/offer-value-seal.ts';
import { RandomPool } from '../../../src/secrets/random-pool.ts';
import { subIdBytes } from '../../../src/sessions/sub-id.ts';
import type { Micro } from '../micro.ts';
import { newSecrets } from '../secrets.ts';

const calls = 500;
/** As long as the version of a catalog is. */
const basis = { catalogVersion: '0123456789abcdef', creditBand: 3 };

const newSeal = () => new OfferValueSeal(newSecrets(), new RandomPool());
const drawSubs = () => Array.from({ length: calls }, () => randomBytes(subIdBytes));

export const offerValueSealMicros: readonly Micro[] = [
  {
    name: 'clicks/offer-value-seal: seal',
    call: 'one value for a session, encrypted and written',
    prepare: () => {
      const seal = newSeal();
      const subs = drawSubs();
      return {
        calls,
        run: () => {
          let characters = 0;
          for (const sub of subs) characters += seal.seal(sub, basis).length;
          return characters;
        },
      };
    },
  },
  {
    name: 'clicks/offer-value-seal: open',
    call: 'one value of a session, read and decrypted',
    prepare: () => {
      const seal = newSeal();
      const sealed = drawSubs().map((sub) => ({ sub, text: seal.seal(sub, basis) }));
      return {
        calls,
        run: () => {
          let bands = 0;
          for (const { sub, text } of sealed) bands += seal.open(sub, text)?.creditBand ?? 0;
          if (bands !== calls * basis.creditBand) throw new Error('a sealed value was not opened');
          return bands;
        },
      };
    },
  },
];
