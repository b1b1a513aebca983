import { createHmac, randomBytes } from 'node:crypto';
import { ClickIds, ClickTokenCipher } from '../../src/ids/click-tokens.ts';
import { SubIds, subIdByteLength } from '../../src/ids/sub-id.ts';
import { UnitHasher, unitHashByteLength } from '../../src/ids/unit-hasher.ts';
import { WidgetTokens } from '../../src/ids/widget-token.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { createSecretSet } from './fixtures.ts';
import { createPerItemBenchmark, type MicroBenchmark } from './micro-benchmark.ts';

const idCount = 1_000;
const createdMs = 1_760_000_000_000;

function fill<Item>(create: (at: number) => Item): Item[] {
  return Array.from({ length: idCount }, (_, at) => create(at));
}

function issueSubIds() {
  const subIds = new SubIds(createSecretSet(), new RandomBytesPool());
  return { subIds, issue: (at: number) => subIds.createSubId(createdMs + at, 7, 1, 'live') };
}

export const subIdBenchmarks: readonly MicroBenchmark[] = [
  createPerItemBenchmark('ids/sub-id: issue a session ID', () => {
    const { issue } = issueSubIds();
    return { items: fill((at) => at), run: (at) => issue(at).length };
  }),
  createPerItemBenchmark('ids/sub-id: verify a session ID', () => {
    const { subIds, issue } = issueSubIds();
    return { items: fill(issue), run: (subId) => (subIds.verify(subId) === null ? 0 : 1) };
  }),
];

const unitIds = () => fill(() => randomBytes(16).toString('hex'));

export const unitHashBenchmarks: readonly MicroBenchmark[] = [
  createPerItemBenchmark('ids/unit-hasher: hash a visitor ID', () => {
    const hasher = new UnitHasher(randomBytes(32));
    return { items: unitIds(), run: (unitId) => hasher.hash(7, unitId).length };
  }),
  createPerItemBenchmark('ids/unit-hasher: hash a visitor ID with createHmac, for comparison', () => {
    const key = randomBytes(32);
    const run = (unitId: string) =>
      createHmac('sha256', key).update(`7 ${unitId}`).digest().subarray(0, unitHashByteLength).length;
    return { items: unitIds(), run };
  }),
];

function issueClickIds() {
  const clickIds = new ClickIds(createSecretSet(), new RandomBytesPool());
  const clicks = fill((at) => ({
    sub: randomBytes(subIdByteLength),
    offerId: `lender-offer-${at % 60}`,
    clickedMs: createdMs + at,
    valueMicros: 4_500_000 + at,
    payoutMicros: null,
    countable: true,
  }));
  return { clickIds, clicks };
}

export const clickIdBenchmarks: readonly MicroBenchmark[] = [
  createPerItemBenchmark('ids/click-tokens: issue a click ID', () => {
    const { clickIds, clicks } = issueClickIds();
    return { items: clicks, run: (click) => clickIds.issue(click).length };
  }),
  createPerItemBenchmark('ids/click-tokens: verify a click ID', () => {
    const { clickIds, clicks } = issueClickIds();
    const items = clicks.map((click) => clickIds.issue(click));
    return { items, run: (text) => (clickIds.verify(text) === null ? 0 : 1) };
  }),
];

const randomSubs = () => fill(() => randomBytes(subIdByteLength));
/** Content of a click token, with a catalog version of realistic length. */
const tokenContent = { catalogVersion: '0123456789abcdef', creditBand: 3 };

export const clickTokenBenchmarks: readonly MicroBenchmark[] = [
  createPerItemBenchmark('ids/click-tokens: encrypt a click token', () => {
    const cipher = new ClickTokenCipher(createSecretSet(), new RandomBytesPool());
    return { items: randomSubs(), run: (sub) => cipher.encrypt(sub, tokenContent).length };
  }),
  createPerItemBenchmark('ids/click-tokens: decrypt a click token', () => {
    const cipher = new ClickTokenCipher(createSecretSet(), new RandomBytesPool());
    const items = randomSubs().map((sub) => ({ sub, text: cipher.encrypt(sub, tokenContent) }));
    return { items, run: ({ sub, text }) => cipher.decrypt(sub, text)?.creditBand ?? 0 };
  }),
];

export const widgetTokenBenchmarks: readonly MicroBenchmark[] = [
  createPerItemBenchmark('ids/widget-token: issue a widget token', () => {
    const tokens = new WidgetTokens(createSecretSet());
    return { items: randomSubs(), run: (sub) => tokens.issueWidgetToken(sub, createdMs).length };
  }),
  createPerItemBenchmark('ids/widget-token: verify a widget token', () => {
    const tokens = new WidgetTokens(createSecretSet());
    const items = randomSubs().map((sub) => ({ sub, text: tokens.issueWidgetToken(sub, createdMs) }));
    return { items, run: ({ sub, text }) => tokens.verify(sub, text) ?? 0 };
  }),
];
