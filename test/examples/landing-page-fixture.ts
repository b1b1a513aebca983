import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, type TestContext } from 'node:test';
import { MarketplaceApi } from '../../examples/landing-page/api/marketplace-api.ts';
import { assignVariant, openExperiment } from '../../examples/landing-page/experiment/experiment.ts';
import type { Variant } from '../../examples/landing-page/experiment/variants.ts';
import { LandingPage } from '../../examples/landing-page/landing-page.ts';
import { createPageServer } from '../../examples/landing-page/page-server.ts';
import type { Product } from '../../examples/landing-page/products/product.ts';
import { products } from '../../examples/landing-page/products/products.ts';
import { apiKeyName, readSettings } from '../../examples/landing-page/settings.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { listen } from '../support/listen.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { type ApiKeyOptions, RunningMarketplace, type StartOptions } from '../support/running-marketplace.ts';

export interface StartedLandingPage {
  readonly market: RunningMarketplace;
  readonly key: string;
  /** API client with the key of the page. */
  readonly caller: ApiCaller;
  /** Origin of the landing page, such as `http://127.0.0.1:43210`. */
  readonly origin: string;
  /** URL of the first page of the product, such as `http://127.0.0.1:43210/personal-loans`. */
  readonly url: string;
  /** Returns a new visitor ID whose variant is this one. */
  visitorIdOf(variant: Variant): string;
  isAssigned(visitorId: string, variant: Variant): boolean;
  /** Returns the text that the page has logged so far. */
  log(): string;
}

export interface Wanted {
  /** Segment of the product. Default: personal loans. */
  readonly segment?: string;
  /** Starts another service with these options, for tests that change its clock or its limits. */
  readonly market?: StartOptions;
  readonly key?: ApiKeyOptions;
  readonly settings?: Readonly<Record<string, string>>;
}

let shared: RunningMarketplace;
let pages = 0;

/** Declares the service that the landing pages of a test file share. Each page has its own account. */
export function useMarketplace(): void {
  before(async () => {
    shared = await startMarketplace();
  });
  after(() => shared.close());
}

async function startMarketplace(options?: StartOptions): Promise<RunningMarketplace> {
  const market = await RunningMarketplace.start('uws', {
    catalogs: builtInVerticals.listExampleCatalogs(),
    ...options,
  });
  // The page requests analytics up to the current day of its own clock.
  market.clock.setWall(Date.now());
  return market;
}

/** Starts a landing page in this process. The page ends with the test. */
export async function startLandingPage(t: TestContext, wanted: Wanted = {}): Promise<StartedLandingPage> {
  const market = wanted.market === undefined ? shared : await startMarketplace(wanted.market);
  if (market !== shared) runAfterTest(t, () => market.close());
  const account = `landing page ${++pages}`;
  const { segment = 'personal-loans' } = wanted;
  const fixture = { vertical: builtInVerticals.verticals.find((vertical) => vertical.segment === segment)! };
  const { key } = market.issueKey(fixture, { account, ...wanted.key });
  const settings = readSettings({ [apiKeyName(segment)]: key, API_URL: apiUrlOf(market), ...wanted.settings });
  let logged = '';
  const log = (line: string): void => {
    logged += `${line}\n`;
  };
  const api = new MarketplaceApi(`${settings.apiUrl}/${segment}`, key);
  const opened = await openExperiment(api);
  assert.ok(opened.ok, JSON.stringify(opened));
  const isAssigned = (id: string, variant: Variant) => assignVariant(opened.answer, id) === variant;
  const visitorIdOf = (variant: Variant): string => {
    const id = randomUUID();
    return isAssigned(id, variant) ? id : visitorIdOf(variant);
  };
  const page = new LandingPage(findProduct(segment), api, opened.answer, key, settings, log);
  const server = createPageServer(new Map([[segment, page]]), settings.behindProxy, log);
  const origin = `http://127.0.0.1:${await listen(t, server)}`;
  market.marketplace.origins.allow(account, origin);
  const caller = market.callerWithKey(fixture, key);
  return { market, key, caller, origin, url: `${origin}/${segment}`, visitorIdOf, isAssigned, log: () => logged };
}

export function findProduct(segment: string): Product {
  return products.find((product) => product.segment === segment)!;
}

export function apiUrlOf({ marketplace }: RunningMarketplace): string {
  return apiUrlAt(marketplace.ports!.public);
}

export function apiUrlAt(port: number): string {
  return `http://127.0.0.1:${port}/v1`;
}

/** Port of the API that the landing pages of a test file share. */
export const sharedApiPort = (): number => shared.marketplace.ports!.public;

/** Response in a visitor's browser. */
interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A simulated browser that stores cookies and does not follow redirects automatically. */
export class Visitor {
  readonly #url: string;
  readonly cookies = new Map<string, string>();

  /** @param url URL of the first page of a product. All paths and locations are relative to it. */
  constructor(url: string) {
    this.#url = url;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Seen> {
    return this.#ask(path, { headers });
  }

  post(path: string, form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
    return this.#ask(path, { method: 'POST', body: new URLSearchParams(form), headers });
  }

  /** Submits a form. Asserts a redirect and returns its location. */
  async posted(path: string, form: Readonly<Record<string, string>>): Promise<string> {
    const { status, headers, text } = await this.post(path, form);
    if (status !== 303) throw new Error(`${status} instead of a redirect: ${text}`);
    return this.location(headers);
  }

  /** Returns the location of a redirect. */
  location(headers: Headers): string {
    const { pathname } = new URL(this.#url);
    const location = headers.get('location')!;
    assert.ok(location.startsWith(pathname), location);
    return location.slice(pathname.length);
  }

  /** Answers one question of the quiz. Returns the location of the next page. */
  answer(question: string, form: Readonly<Record<string, string>> = {}): Promise<string> {
    return this.posted('/answers', { question, ...form });
  }

  /** Answers all questions except the optional one. Returns the location of the next page. */
  async answerQuiz(loan_purpose: string): Promise<string> {
    const { annual_income, employment_status, state } = goodAnswers;
    assert.equal(await this.answer('purpose', { loan_purpose }), '/questions/amount');
    assert.equal(await this.answer('amount', { loan_amount: '10,000' }), '/questions/credit');
    assert.equal(await this.answer('credit', { credit_score_range: '750-799' }), '/questions/you');
    return this.answer('you', { annual_income, employment_status, state });
  }

  async #ask(path: string, init: RequestInit): Promise<Seen> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.#url + path, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie === '' ? {} : { cookie }), ...(init.headers as Record<string, string>) },
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
      this.cookies.set(name!, value!);
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}

/** Form values, as typed by a borrower, that match many offers. */
export const goodAnswers = {
  loan_amount: '$10,000',
  loan_purpose: 'major_purchase',
  credit_score_range: '750-799',
  annual_income: '120 000',
  employment_status: 'employed',
  state: 'CA',
} as const;

/** Form values of visitors who match offers, by product. Each purpose shows a conditional field. */
export const visitorAnswers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'personal-loans': { ...goodAnswers, loan_purpose: 'debt_consolidation', monthly_debt_payments: '500' },
  'credit-cards': {
    card_purpose: 'balance_transfer',
    transfer_amount: '$4,000',
    annual_fee_accepted: 'false',
    credit_score_range: '750-799',
    annual_income: '85,000',
    state: 'TX',
  },
  mortgage: {
    loan_purpose: 'purchase',
    property_value: '400,000',
    down_payment: '60,000',
    property_type: 'single_family',
    occupancy: 'primary',
    state: 'TX',
    credit_score_range: '750-799',
    annual_income: '140,000',
    monthly_debt_payments: '600',
  },
  banking: {
    product_type: 'cd',
    cd_term_months: '12',
    deposit_amount: '12,000',
    state: 'TX',
    new_customer: 'true',
    direct_deposit: 'false',
  },
  'find-advisor': {
    advice_topic: 'retirement',
    investable_assets: '400,000',
    state: 'TX',
    meeting_preference: 'remote',
    timeline: 'now',
    has_advisor: 'false',
  },
};
