import { randomBytes } from 'node:crypto';
import { type ClickIdPayload, ClickIds, ClickTokenCipher } from '../../src/ids/click-tokens.ts';
import { SubIds, subIdByteLength } from '../../src/ids/sub-id.ts';
import { WidgetTokens } from '../../src/ids/widget-token.ts';
import { RandomPool } from '../../src/secrets/random-pool.ts';
import { createSecretRing } from './fixtures.ts';
import type { MicroBenchmark } from './micro-benchmark.ts';

const subIdCalls = 1_000;

function createSubIds(): SubIds {
  return new SubIds(createSecretRing(), new RandomPool());
}

export const subIdBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'ids/sub-id: issue',
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
    name: 'ids/sub-id: verify',
    call: 'one id: read and its signature checked',
    prepare: () => {
      const subIds = createSubIds();
      const issued = Array.from({ length: subIdCalls }, (_, i) => subIds.issue(1_760_000_000_000 + i, 7, 1, 'live'));
      return {
        calls: subIdCalls,
        run: () => {
          let genuine = 0;
          for (const subId of issued) if (subIds.verify(subId) !== null) genuine++;
          if (genuine !== subIdCalls) throw new Error('an issued ID was rejected');
          return genuine;
        },
      };
    },
  },
];

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
    name: 'ids/click-id: issue',
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
    name: 'ids/click-id: verify',
    call: 'one id: read, its signature checked, decrypted',
    prepare: () => {
      const clickIds = createClickIds();
      const issued = randomClicks().map((click) => clickIds.issue(click));
      return {
        calls: clickIdCalls,
        run: () => {
          let genuine = 0;
          for (const text of issued) if (clickIds.verify(text) !== null) genuine++;
          if (genuine !== clickIdCalls) throw new Error('an issued click ID was rejected');
          return genuine;
        },
      };
    },
  },
];

const clickTokenCalls = 500;
/** Content of a click token, with a catalog version of realistic length. */
const basis = { catalogVersion: '0123456789abcdef', creditBand: 3 };

const createClickTokenCipher = () => new ClickTokenCipher(createSecretRing(), new RandomPool());
const randomClickSubs = () => Array.from({ length: clickTokenCalls }, () => randomBytes(subIdByteLength));

export const clickTokenBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'ids/click-token-cipher: encrypt',
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
    name: 'ids/click-token-cipher: decrypt',
    call: 'one value of a session, read and decrypted',
    prepare: () => {
      const seal = createClickTokenCipher();
      const sealed = randomClickSubs().map((sub) => ({ sub, text: seal.encrypt(sub, basis) }));
      return {
        calls: clickTokenCalls,
        run: () => {
          let bands = 0;
          for (const { sub, text } of sealed) bands += seal.decrypt(sub, text)?.creditBand ?? 0;
          if (bands !== clickTokenCalls * basis.creditBand) throw new Error('a token was not decrypted');
          return bands;
        },
      };
    },
  },
];

const widgetTokenCalls = 1_000;
const expiresMs = 1_760_000_000_000;

const randomWidgetSubs = () => Array.from({ length: widgetTokenCalls }, () => randomBytes(subIdByteLength));

export const widgetTokenBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'ids/widget-token: issue',
    call: 'one token of a session, signed and written',
    prepare: () => {
      const tokens = new WidgetTokens(createSecretRing());
      const subs = randomWidgetSubs();
      return {
        calls: widgetTokenCalls,
        run: () => {
          let characters = 0;
          for (const sub of subs) characters += tokens.issue(sub, expiresMs).length;
          return characters;
        },
      };
    },
  },
  {
    name: 'ids/widget-token: verify',
    call: 'one token of a session, read and its signature checked',
    prepare: () => {
      const tokens = new WidgetTokens(createSecretRing());
      const issued = randomWidgetSubs().map((sub) => ({ sub, text: tokens.issue(sub, expiresMs) }));
      return {
        calls: widgetTokenCalls,
        run: () => {
          let genuine = 0;
          for (const { sub, text } of issued) if (tokens.verify(sub, text) === expiresMs) genuine++;
          if (genuine !== widgetTokenCalls) throw new Error('an issued token was rejected');
          return genuine;
        },
      };
    },
  },
];
