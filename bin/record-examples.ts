/**
 * Records requests of a partner and the responses of a real service, as examples for the OpenAPI document. The clock is fixed and random
 * values are replaced, so that each run records the same examples. Only the results of an experiment are simulated.
 */

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bounds } from '../src/bounds.ts';
import type { Vertical } from '../src/domain/vertical.ts';
import { createMarketplace } from '../src/index.ts';
import { placeholderUrls, type RecordedExamples } from '../src/openapi/recorded-examples.ts';
import { renderCsv } from '../src/operations/csv-table.ts';
import { getExperimentResults } from '../src/operations/experiments/get-experiment-results.ts';
import { planExperiment } from '../src/operations/experiments/plan-experiment.ts';
import { builtInVerticals } from '../src/verticals/built-in-verticals.ts';
import { callOperation } from '../test/operations/bench.ts';
import { CannedAnalytics } from '../test/support/canned-analytics.ts';
import { readExamplePayoutUsd } from '../test/support/example-payout.ts';
import { sampleBorrowers } from '../test/support/sample-borrowers.ts';
import { simulateResults } from './simulate-results.ts';

const tag = 'hero-short-form';
const experimentName = 'short-form';
const experimentRequest = {
  arms: [
    { referrer_tag: 'hero-long-form', weight: 0.5, label: 'Long form' },
    { referrer_tag: tag, weight: 0.5, label: 'Short form' },
  ],
  control: 'hero-long-form',
  unit: 'session',
  starts_on: '2026-11-30',
  ends_on: '2027-01-10',
  min_effect_percent: 10,
  hypothesis: 'Fewer questions on the first page earn more per session.',
  dimensions: ['variant'],
};
const planRequest = { ...experimentRequest, based_on: 'hero-today', expected_sessions_per_day: 800 };
const closingRequest = { outcome: 'ship', arm: tag, note: 'Fewer visitors leave the short form.' };
const experimentResults = simulateResults(experimentName, experimentRequest.arms);
const sessionRequest = {
  referrer_tag: tag,
  user_agent:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  metadata: { variant: 'b', newsletter: false },
};

/** Records example requests and responses of a vertical. The service uses the example catalog of the vertical. */
export async function captureExamples(vertical: Vertical): Promise<RecordedExamples> {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-examples-'));
  const clock = new SteppedClock();
  try {
    const marketplace = await createMarketplace({
      dataDir: folder,
      durability: 'write',
      clock,
      urls: placeholderUrls,
      listen: { engine: 'node' },
      catalogs: builtInVerticals.createCatalogSources(vertical, builtInVerticals.exampleCatalogFile(vertical)),
    });
    try {
      return await recordPartnerFlow(marketplace, vertical, clock);
    } finally {
      await marketplace.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function recordPartnerFlow(
  marketplace: Awaited<ReturnType<typeof createMarketplace>>,
  vertical: Vertical,
  clock: SteppedClock,
): Promise<RecordedExamples> {
  const { segment, fields: pocketFields, clicksConfirmRevenue = false, flatPayout = false } = vertical;
  const { ports, keys } = marketplace;
  const fields = sampleBorrowers[segment]!;
  const amount = pocketFields.find((field) => field.kind === 'integer')!;
  const callerWith = (mode: 'live' | 'test') => {
    const { key } = keys.create({ account: 'partner', vertical: segment, mode });
    // For an unknown key, the service reads the key file again at most once per second.
    clock.advance(1_000);
    return new ApiCaller(`http://127.0.0.1:${ports?.public}/v1/${segment}`, key, clock);
  };
  const live = callerWith('live');
  const session = await live.post<SessionMembers>('session', sessionRequest);
  const { sub_id } = session;
  const inputsRequest = { sub_id, fields };
  const inputs = await live.post('inputs', inputsRequest);
  const invalidFields = await live.post('inputs', {
    sub_id,
    fields: { [amount.name]: amount.max + 1, state: 'California' },
  });
  const offers = await live.get<OffersMembers>('marketplace', { sub_id, format: 'json', max_offers: '2' });
  const { svc_offer_id, click_url } = offers.offers[0]!;
  await marketplace.followClick(click_url, { userAgent: sessionRequest.user_agent });
  const occurred_at = new Date(clock.advance(60_000)).toISOString();
  if (!clicksConfirmRevenue) {
    const payoutUsd = flatPayout ? readExamplePayoutUsd(vertical, svc_offer_id) : 180;
    await marketplace.confirmations.submit([
      { sub_id, svc_offer_id, txid: 'payout-1', status: 'funded', amount: payoutUsd, occurred_at },
    ]);
  }
  const filter = { referrer_tag: tag };
  const dailyQuery = { ...filter, granularity: 'daily', date_from: '2026-05-19', limit: '1' };

  const test = callerWith('test');
  const sandbox = await test.post<SessionMembers>('session', { referrer_tag: tag });
  const inSandbox = { sub_id: sandbox.sub_id };
  await test.post('inputs', { ...inSandbox, fields });

  // The embed code is for a sandbox session, so that loading the widget does not change the analytics of the live key.
  const { token } = await test.get<{ readonly token: string }>('marketplace', { ...inSandbox, format: 'js' });
  const load = sampleValue('load', 'hex', 16);
  const widgetOffers = await test.getWidgetOffers({ sub: sandbox.sub_id, token, load, max_offers: '1' });

  return replaceRandomValues({
    sessionRequest,
    session,
    inputsRequest,
    inputs,
    invalidFields,
    offers,
    explained: await test.get('marketplace', { ...inSandbox, format: 'json', max_offers: '1', explain: 'true' }),
    iframe: await live.get('marketplace', { sub_id, format: 'iframe' }),
    js: await live.get('marketplace', { sub_id, format: 'js' }),
    iframeHtml: await live.fetchText('marketplace', { sub_id, format: 'iframe' }, 'text/html'),
    widgetOffers,
    widgetBeacon: {
      load,
      events: [
        { event_id: `${load}-1`, type: 'widget_loaded' },
        { event_id: `${load}-2`, type: 'offer_impression', svc_offer_id: widgetOffers.offers[0]?.svc_offer_id },
      ],
    },
    summary: await live.get('analytics', filter),
    daily: await live.get('analytics', dailyQuery),
    rows: await live.get('analytics', { ...filter, granularity: 'row' }),
    offerFigures: await live.get('analytics', { ...filter, granularity: 'offer' }),
    offerFiguresCsv: await live.fetchText('analytics', { ...filter, granularity: 'offer' }, 'text/csv'),
    dailyCsv: await live.fetchText('analytics', dailyQuery, 'text/csv'),
    rowsCsv: await live.fetchText('analytics', { ...filter, granularity: 'row' }, 'text/csv'),
    tags: await live.get('tags', {}),
    planRequest,
    experimentPlan: await simulatePlan(vertical, clock),
    experimentRequest,
    experiment: await live.send('PUT', `experiments/${experimentName}`, experimentRequest),
    experiments: await live.get('experiments', {}),
    experimentArm: await recordArm(live),
    experimentResults,
    experimentResultsCsv: renderCsv(getExperimentResults.createCsvPage!(experimentResults)!),
    closingRequest,
    closedExperiment: await live.send('POST', `experiments/${experimentName}/close`, closingRequest),
    deletedExperiment: await live.send('DELETE', `experiments/${experimentName}`),
    ...(await recordUnits(live, clock)),
  });
}

/** Plans an experiment with simulated figures of a page, because no page of the examples has matured sessions. */
async function simulatePlan(vertical: Vertical, clock: SteppedClock): Promise<unknown> {
  const analytics = new CannedAnalytics();
  const matured = {
    sessions: 84_000,
    sessionsWithRevenue: 2_100,
    confirmedMicros: 147_000e6,
    confirmedUsdSquared: 1.33e7,
  };
  analytics.figures = { ...analytics.figures, matured };
  const deps = { analytics, clock, confirmationGraceDays: bounds.confirmationGraceDaysDefault };
  const tenant = { account: 1, vertical, mode: 'live' } as const;
  const planned = await callOperation(planExperiment, deps, tenant, {
    texts: { name: experimentName },
    body: planRequest,
  });
  if (!planned.ok) throw new Error(`the plan was refused: ${planned.error.code}`);
  return planned.value;
}

/** Defines an experiment whose visitors are assigned by hash. Returns the arm of a visitor. */
async function recordArm(caller: ApiCaller): Promise<unknown> {
  const arms = ['rates-first', 'form-first'].map((referrer_tag) => ({ referrer_tag, weight: 0.5 }));
  const visitors = { arms, control: 'form-first', unit: 'visitor', assignment: 'hash', starts_on: '2026-11-30' };
  await caller.send('PUT', 'experiments/first-page', visitors);
  return caller.get('experiments/first-page/arm', { unit_id: 'visitor-1' });
}

/** Defines an experiment and creates sessions of two visitors. Returns its units when the sessions are mature, which is after all other examples. */
async function recordUnits(caller: ApiCaller, clock: SteppedClock): Promise<RecordedExamples> {
  const arms = ['short-page', 'long-page'].map((referrer_tag) => ({ referrer_tag, weight: 0.5 }));
  const visitors = { arms, control: 'long-page', unit: 'visitor', starts_on: '2026-11-27' };
  await caller.send('PUT', 'experiments/page-length', visitors);
  for (const visitor of [1, 1, 2]) {
    await caller.post('session', { referrer_tag: arms[visitor - 1]!.referrer_tag, unit_id: `visitor-${visitor}` });
  }
  clock.advance(60 * 24 * 60 * 60 * 1000);
  const path = 'experiments/page-length/units';
  const units = await caller.get<UnitsMembers>(path, {});
  // Visitors are in the order of their hashes, which differ in each run.
  const data = units.data.toSorted((one, other) => other.sessions - one.sessions);
  const [header, ...lines] = (await caller.fetchText(path, {}, 'text/csv')).split('\r\n').slice(0, -1);
  return {
    experimentUnits: { ...units, data },
    experimentUnitsCsv: [header, ...lines.sort().reverse(), ''].join('\r\n'),
  };
}

interface UnitsMembers {
  readonly data: readonly { readonly sessions: number }[];
}

interface SessionMembers {
  readonly sub_id: string;
}

interface OffersMembers {
  readonly offers: readonly { readonly svc_offer_id: string; readonly click_url: string }[];
}

type Query = Readonly<Record<string, string>>;

/** Sends requests and returns the bodies of the responses, even after an error status. */
class ApiCaller {
  /** URL of the vertical, such as `http://127.0.0.1:8080/v1/personal-loans`. */
  readonly #baseUrl: string;
  readonly #key: string;
  readonly #clock: SteppedClock;

  constructor(baseUrl: string, key: string, clock: SteppedClock) {
    this.#baseUrl = baseUrl;
    this.#key = key;
    this.#clock = clock;
  }

  post<Body>(operation: string, body: unknown): Promise<Body> {
    return this.send('POST', operation, body);
  }

  async send<Body>(method: 'POST' | 'PUT' | 'DELETE', operation: string, body?: unknown): Promise<Body> {
    const content = { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
    const request = { method, ...(body !== undefined && content) };
    return JSON.parse(await this.#send(`${this.#baseUrl}/${operation}`, request)) as Body;
  }

  async get<Body>(operation: string, query: Query): Promise<Body> {
    return JSON.parse(await this.fetchText(operation, query, 'application/json')) as Body;
  }

  fetchText(operation: string, query: Query, accept: string): Promise<string> {
    const url = `${this.#baseUrl}/${operation}?${new URLSearchParams(query)}`;
    return this.#send(url, { headers: { Accept: accept } });
  }

  async getWidgetOffers(query: Query): Promise<OffersMembers> {
    return JSON.parse(
      await this.#send(`${new URL(this.#baseUrl).origin}/w/offers?${new URLSearchParams(query)}`, {}),
    ) as OffersMembers;
  }

  async #send(url: string, request: RequestInit): Promise<string> {
    this.#clock.advance(5_000);
    const headers = { ...request.headers, Authorization: `Bearer ${this.#key}` };
    return (await fetch(url, { ...request, headers })).text();
  }
}

/** Clock whose time changes only when `advance` is called. */
class SteppedClock {
  #passedMs = 0;

  wallMs(): number {
    return Date.UTC(2026, 10, 27, 12) + this.#passedMs;
  }

  monotonicMs(): number {
    return this.#passedMs;
  }

  advance(ms: number): number {
    this.#passedMs += ms;
    return this.wallMs();
  }
}

/** Replaces random values with fixed values of the same length and alphabet. */
function replaceRandomValues(examples: RecordedExamples): RecordedExamples {
  const text = JSON.stringify(examples)
    .replaceAll(/(?<=sub_)[0-9a-f]{64}/g, (digits) => sampleValue('sub_id', 'hex', digits.length))
    .replaceAll(/(?<="key_)[0-9a-f]{12}/g, (digits) => sampleValue('key', 'hex', digits.length))
    .replaceAll(/(?<=svc-offers-)[0-9a-f]+/g, (digits) => sampleValue('mount', 'hex', digits.length))
    .replaceAll(/(?<=widget\.js\?v=)[0-9a-f]+/g, (digits) => sampleValue('script', 'hex', digits.length))
    .replaceAll(/(?<=&v=)[\w-]+/g, (sealed) => sampleValue('v', 'base64url', sealed.length))
    .replaceAll(/(?<=("token":|token=\\?)"?)[\w.-]+/g, (token) => sampleValue('token', 'base64url', token.length))
    .replaceAll(/(?<="next_cursor":")[\w.-]+/g, (cursor) => sampleValue('cursor', 'base64url', cursor.length));
  return JSON.parse(text) as RecordedExamples;
}

function sampleValue(of: string, encoding: 'hex' | 'base64url', length: number): string {
  const digest = (part: number) => createHash('sha512').update(`${of} ${part}`).digest(encoding);
  return (digest(0) + digest(1) + digest(2)).slice(0, length);
}
