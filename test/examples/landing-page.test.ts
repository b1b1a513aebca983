import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../bench/target/free-port.ts';
import type { Offer } from '../../examples/landing-page/api/marketplace-api.ts';
import { readSettings } from '../../examples/landing-page/settings.ts';
import { bounds } from '../../src/bounds.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { browsers } from '../support/browsers.ts';
import { listen } from '../support/listen.ts';
import {
  apiUrlAt,
  apiUrlOf,
  findProduct,
  goodAnswers,
  type StartedLandingPage,
  sharedApiPort,
  startLandingPage,
  useMarketplace,
  Visitor,
  visitorAnswers,
  type Wanted,
} from './landing-page-fixture.ts';

useMarketplace();

const tags = { a: 'lp-calm-form', b: 'lp-quick-quiz' } as const;

async function visiting(t: TestContext, variant: 'a' | 'b', wanted: Wanted = {}) {
  const page = await startLandingPage(t, wanted);
  const visitor = new Visitor(page.url);
  visitor.cookies.set('visitor', page.visitorIdOf(variant));
  const landing = await visitor.get('/');
  return { page, visitor, landing };
}

function figures({ caller }: StartedLandingPage, variant: 'a' | 'b') {
  return caller.summary({ referrer_tag: tags[variant] });
}

async function sessions({ caller }: StartedLandingPage, variant: 'a' | 'b') {
  return (await caller.rows({ referrer_tag: tags[variant] })).data;
}

function policyOf(headers: Headers): Map<string, string> {
  const directives = headers.get('content-security-policy')!.split('; ');
  return new Map(directives.map((text) => [text.split(' ')[0]!, text.slice(text.indexOf(' ') + 1)]));
}

function textOf(html: string): string {
  return html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

/** Returns the click URLs of offer cards, decoded as in a browser. */
function clickUrls(html: string): string[] {
  return [...html.matchAll(/href="([^"]*\/c\?sub=[^"]*)"/g)].map(([, url]) => url!.replaceAll('&amp;', '&'));
}

/** Returns the error message of a field, found through the ARIA attributes as in a screen reader. */
function errorBeside(html: string, name: string): string | undefined {
  const control = new RegExp(`<(?:input|select)[^>]* id="${name}"[^>]*>`).exec(html)?.[0];
  assert.match(control ?? '', /aria-invalid="true"/, name);
  assert.match(control!, new RegExp(`aria-describedby="[^"]*${name}-error`), name);
  return new RegExp(`id="${name}-error">([^<]*)<`).exec(html)?.[1];
}

/** Sends a request with headers that `fetch` cannot send. Returns the status of the response. */
function rawStatus(url: string, method: string, headers: Record<string, string>, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => resolve(response.resume().statusCode!));
    sent.on('error', reject).end(body);
  });
}

test('variant B of the landing page asks one question per page, and the results page counts clicks on offer cards', async (t) => {
  const { page, visitor, landing } = await visiting(t, 'b');
  assert.equal(landing.status, 200);
  assert.match(textOf(landing.text), /Question 1 of 4/);

  assert.equal(await visitor.answerQuiz('debt_consolidation'), '/questions/more');
  assert.match(textOf((await visitor.get('/questions/more')).text), /each month for debts/);
  assert.equal(await visitor.answer('more', { monthly_debt_payments: '500' }), '/offers');

  const offers = await visitor.get('/offers');
  assert.equal(offers.status, 200);
  const text = textOf(offers.text);
  assert.match(text, /Monthly payment, about \$\d+\.\d\d for \$10,000 over \d+ months/);
  assert.match(text, /APR \d+\.\d\d% to \d+\.\d\d%/);
  assert.match(text, /We are paid by some of the lenders/);
  assert.match(text, /No credit decision has been made/);

  const [session] = await sessions(page, 'b');
  const answered = await page.caller.offers(session!.sub_id, { max_offers: 20 });
  assert.ok(answered.total_offers > 10);
  const more = await visitor.get('/offers?embed=json&more=yes');
  assert.ok(offers.text.includes('/offers?embed=json&amp;more=yes"'), 'a link to more offers');
  assert.ok(!more.text.includes('more=yes"'), 'no link to more than all offers');
  assert.deepEqual(
    clickUrls(more.text),
    answered.offers.map(({ click_url }) => click_url),
  );
  assert.deepEqual(
    clickUrls(offers.text),
    answered.offers.slice(0, 10).map(({ click_url }) => click_url),
  );
  assert.equal(policyOf(offers.headers).get('img-src'), `'self' ${new URL(answered.offers[0]!.logo_url).origin}`);

  assert.equal((await page.caller.click(clickUrls(offers.text)[0]!)).status, 302);
  assert.match(textOf((await visitor.get('/results')).text), /Clicks offers followed, each once per session 0 1 /);
});

test('visitors may skip only the last question, and going back retains all answers', async (t) => {
  const { visitor } = await visiting(t, 'b');
  await visitor.answer('purpose', { loan_purpose: 'home_improvement' });
  const early = await visitor.get('/offers');
  assert.equal(early.status, 422);
  assert.match(textOf(early.text), /Question 2 of 4/);
  assert.equal(errorBeside(early.text, 'loan_amount'), 'Please answer this question.');
  await visitor.answerQuiz('home_improvement');
  assert.match((await visitor.get('/questions/amount')).text, /name="loan_amount" value="10,000"/);
  assert.equal(await visitor.answer('amount', { loan_amount: '9000' }), '/questions/more');
  const unanswered = await visitor.post('/answers', { question: 'more' });
  assert.equal(unanswered.status, 422);
  assert.equal(errorBeside(unanswered.text, 'housing_status'), 'Please answer this question.');
  assert.equal(await visitor.answer('more', { skip: 'yes' }), '/offers');
  assert.match(textOf((await visitor.get('/offers')).text), /for \$9,000/);
});

test('variant A of the landing page shows the same number of offers in an iframe, in a script widget and as cards', async (t) => {
  const { page, visitor, landing } = await visiting(t, 'a');
  assert.equal(policyOf(landing.headers).get('script-src'), "'none'");
  assert.equal(await visitor.posted('/answers', goodAnswers), '/offers');
  const host = `http://127.0.0.1:${page.market.marketplace.ports!.public}`;

  const framed = await visitor.get('/offers');
  assert.equal(framed.status, 200);
  const [, src] = /<iframe src="([^"]+)"/.exec(framed.text)!;
  assert.equal(policyOf(framed.headers).get('frame-src'), host);
  assert.equal(policyOf(framed.headers).get('script-src'), "'self'");
  const { pathname, search } = new URL(src!);
  const widget = await page.market.http.send({ path: pathname + search });
  assert.equal(widget.status, 200);
  assert.match(widget.headers.get('content-security-policy')!, new RegExp(`frame-ancestors ${page.origin}$`));

  const mounted = await visitor.get('/offers?embed=js');
  assert.match(
    mounted.text,
    /<div id="(svc-offers-\w+)"><svg [^>]+><\/svg><\/div>\n<script async src="[^"]+" [^>]*data-mount="#\1"/,
  );
  const policy = policyOf(mounted.headers);
  assert.deepEqual(
    ['script-src', 'connect-src', 'img-src', 'frame-src'].map((name) => policy.get(name)),
    [host, host, `'self' ${host}`, "'none'"],
  );
  const cards = clickUrls((await visitor.get('/offers?embed=json')).text).length;
  // With few offers, the test could not detect different numbers of offers.
  assert.ok(cards > 5);
  assert.equal(new URL(src!.replaceAll('&amp;', '&')).searchParams.get('max_offers'), String(cards));
  assert.ok(mounted.text.includes(`data-max-offers="${cards}"`));
});

test('the form shows an error beside each invalid field, and retains the entered values', async (t) => {
  const { visitor } = await visiting(t, 'a');
  const hostile = `"><script>alert(1)</script>`;
  const invalid = { loan_amount: '500', annual_income: hostile, state: '' };
  const refused = await visitor.post('/answers', { ...goodAnswers, ...invalid });
  assert.equal(refused.status, 422);
  assert.equal(errorBeside(refused.text, 'loan_amount'), 'Please enter an amount from $1,000 to $100,000.');
  assert.equal(errorBeside(refused.text, 'annual_income'), 'Please enter whole dollars, such as 15,000.');
  assert.equal(errorBeside(refused.text, 'state'), 'Please answer this question.');
  assert.match(refused.text, /name="loan_amount" value="500"/);
  assert.match(refused.text, /<option value="major_purchase" selected>/);
  assert.ok(!refused.text.includes('<script'));
  assert.ok(refused.text.includes('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"'));
  // The session has no fields yet, because rejected values are not merged.
  const early = await visitor.get('/offers');
  assert.equal(early.status, 422);
  assert.equal(errorBeside(early.text, 'loan_amount'), 'Please answer this question.');
  assert.equal(await visitor.posted('/answers', goodAnswers), '/offers');
});

test('a field that does not apply to the loan purpose is not submitted to the session', async (t) => {
  const { page, visitor } = await visiting(t, 'a');
  const debts = { ...goodAnswers, monthly_debt_payments: '500' };
  await visitor.posted('/answers', { ...debts, loan_purpose: 'moving' });
  const [session] = await sessions(page, 'a');
  const missing = async (): Promise<readonly string[]> =>
    (await page.caller.submitFields(session!.sub_id, { loan_purpose: 'debt_consolidation' })).missing_conditional;
  assert.deepEqual(await missing(), ['monthly_debt_payments']);
  // The value is also removed from the session if the loan purpose changes later.
  await visitor.posted('/answers', { ...debts, loan_purpose: 'debt_consolidation' });
  assert.deepEqual(await missing(), []);
  await visitor.posted('/answers', { ...goodAnswers, loan_purpose: 'moving' });
  assert.deepEqual(await missing(), ['monthly_debt_payments']);
});

test('a borrower without matching offers sees a message that no offer fits', async (t) => {
  const { visitor } = await visiting(t, 'a');
  const poor = { loan_amount: '100000', credit_score_range: '300-579', annual_income: '0' };
  await visitor.posted('/answers', { ...goodAnswers, ...poor });
  const { status, text } = await visitor.get('/offers?embed=json');
  assert.equal(status, 200);
  assert.match(textOf(text), /No offer fits right now/);
});

test('the offers page shows a notice if the API key is a test key', async (t) => {
  const { visitor } = await visiting(t, 'a', { key: { mode: 'test' } });
  await visitor.posted('/answers', goodAnswers);
  assert.match(textOf((await visitor.get('/offers')).text), /these offers are fictional/);
});

test('after the session expires, the visitor gets a new session that contains the earlier answers', async (t) => {
  const { page, visitor } = await visiting(t, 'b', { market: {} });
  await visitor.answer('purpose', { loan_purpose: 'moving' });
  page.market.clock.advance(bounds.sessionTtlMs);
  // The visitor continues at the current question, and the page does not ask for the purpose again.
  assert.equal(await visitor.answer('amount', { loan_amount: '10000' }), '/questions/credit');
  await visitor.answer('credit', { credit_score_range: '750-799' });
  const { annual_income, employment_status, state } = goodAnswers;
  await visitor.answer('you', { annual_income, employment_status, state });
  page.market.clock.advance(bounds.sessionTtlMs);
  const offers = await visitor.get('/offers');
  assert.match(textOf(offers.text), /Your visit had expired/);
  assert.ok(clickUrls(offers.text).length > 0);
  assert.ok(!textOf((await visitor.get('/offers')).text).includes('It has been a while'));
  assert.equal((await figures(page, 'b')).sessions_total, 3);
});

test('a visitor keeps the variant of the experiment; a visit to the other variant has a tag of its own', async (t) => {
  const page = await startLandingPage(t, { market: {} });
  const visitor = new Visitor(page.url);
  const shown = async (path: string) => ((await visitor.get(path)).text.includes('Question 1 of 4') ? 'b' : 'a');
  const first = await shown('/');
  const id = visitor.cookies.get('visitor')!;
  assert.ok(page.isAssigned(id, first));
  const other = first === 'a' ? 'b' : 'a';
  assert.equal(await shown(`/?variant=${other}`), other);
  assert.equal(await shown('/'), first);
  assert.equal(visitor.cookies.get('visitor'), id);
  const preview = await page.caller.summary({ referrer_tag: `${tags[other]}-preview` });
  const totals = [await figures(page, first), await figures(page, other), preview];
  assert.deepEqual(
    totals.map(({ sessions_total: total }) => total),
    [2, 0, 1],
  );
  page.market.clock.advance(86_400_000);
  const { text } = await visitor.get('/results');
  assert.match(textOf(text), /Result Too early to say: no session is mature yet\. The first sessions are mature on /);
  const visitors = first === 'a' ? '1 0' : '0 1';
  assert.ok(textOf(text).includes(`Visitors each in one variant ${visitors} `), textOf(text));
});

test('an ID of a visitor that the page did not create is replaced', async (t) => {
  const { visitor } = await visiting(t, 'a');
  for (const forged of ['', 'a@example.com', 'x'.repeat(65), '\u00e9']) {
    visitor.cookies.set('visitor', encodeURIComponent(forged));
    assert.equal((await visitor.get('/')).status, 200);
    assert.match(visitor.cookies.get('visitor')!, /^[0-9a-f-]{36}$/);
  }
});

test('a page load creates a session with the device of the visitor; prefetches and HEAD requests create no session', async (t) => {
  const page = await startLandingPage(t);
  const visitor = new Visitor(page.url);
  visitor.cookies.set('visitor', page.visitorIdOf('a'));
  const head = await fetch(page.url, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal((await visitor.get('/', { 'Sec-Purpose': 'prefetch;prerender' })).status, 503);
  assert.equal((await figures(page, 'a')).sessions_total, 0);
  const { userAgent } = browsers.find(({ device }) => device === 'mobile')!;
  await visitor.get('/', { 'User-Agent': userAgent });
  const [session, ...others] = await sessions(page, 'a');
  assert.deepEqual([session?.device, others], ['mobile', []]);
});

test('no response contains the API key, and no cookie contains the sub_id in plain text', async (t) => {
  const { page, visitor, landing } = await visiting(t, 'a');
  const answers = [landing, await visitor.post('/answers', goodAnswers)];
  for (const path of ['/offers', '/offers?embed=js', '/offers?embed=json', '/answers', '/results', '/nowhere']) {
    answers.push(await visitor.get(path));
  }
  for (const { text, headers } of answers) {
    assert.ok(!(text + JSON.stringify([...headers])).includes(page.key));
    assert.equal(headers.get('cache-control'), 'no-store');
    for (const cookie of headers.getSetCookie()) assert.match(cookie, /; HttpOnly; SameSite=Lax/);
  }
  const [session] = await sessions(page, 'a');
  assert.ok(!JSON.stringify([...visitor.cookies]).includes(session!.sub_id));
});

test('a forged visit cookie is ignored', async (t) => {
  const { visitor } = await visiting(t, 'a');
  await visitor.posted('/answers', goodAnswers);
  const sealed = visitor.cookies.get('visit-personal-loans')!;
  const changed = sealed.slice(0, -6) + (sealed.at(-6) === 'A' ? 'B' : 'A') + sealed.slice(-5);
  for (const forged of [changed, '', 'AAAA', 'sub_00']) {
    visitor.cookies.set('visit-personal-loans', forged);
    const { status, headers } = await visitor.get('/offers');
    assert.deepEqual([status, visitor.location(headers)], [303, '']);
    assert.equal((await visitor.post('/answers', goodAnswers)).status, 400);
  }
});

test('forms are accepted only from the same origin, up to a maximum size, and with the content type of a form', async (t) => {
  const { page, visitor } = await visiting(t, 'a');
  const from = async (headers: Record<string, string>) => (await visitor.post('/answers', goodAnswers, headers)).status;
  assert.equal(await from({ 'Sec-Fetch-Site': 'cross-site' }), 403);
  assert.equal(await from({ Origin: 'https://elsewhere.example' }), 403);
  assert.equal(await from({ Origin: 'null' }), 403);
  assert.equal(await from({ Origin: page.origin, 'Sec-Fetch-Site': 'same-origin' }), 303);
  assert.equal((await visitor.post('/answers', { ...goodAnswers, state: 'x'.repeat(20_000) })).status, 413);
  assert.equal(await from({ 'Content-Type': 'text/plain' }), 415);
  const chunked = { 'Content-Type': 'application/x-www-form-urlencoded', 'Transfer-Encoding': 'chunked' };
  assert.equal(await rawStatus(`${page.url}/answers`, 'POST', chunked, 'x'.repeat(20_000)), 413);
});

test('limits the page requests of an IP address per minute, and sends Retry-After', async (t) => {
  const { page, visitor } = await visiting(t, 'a');
  let answered = 1;
  while ((await visitor.get('/answers')).status === 200) answered++;
  assert.equal(answered, 120);
  const refused = await visitor.get('/');
  assert.equal(refused.status, 429);
  const seconds = Number(refused.headers.get('retry-after'));
  assert.ok(seconds >= 1 && seconds <= 60);
  assert.equal((await fetch(`${page.origin}/style.css`)).status, 200);
});

test('the landing page rejects unsupported methods and unknown paths', async (t) => {
  const { page, visitor } = await visiting(t, 'a');
  for (const path of ['/nowhere', '//', '/../settings.ts', '/assets/style.css', '/%']) {
    assert.equal((await fetch(page.origin + path)).status, 404, path);
  }
  const put = await fetch(`${page.url}/answers`, { method: 'PUT' });
  assert.deepEqual([put.status, put.headers.get('allow')], [405, 'GET, POST']);
  assert.equal(visitor.location((await visitor.get('/questions/none')).headers), '/answers');
});

test('creates one session if the first response of the API is lost', async (t) => {
  let losses = 0;
  let isLosing = false;
  const losing = createServer((client) => {
    const api = connect(sharedApiPort(), '127.0.0.1');
    client.on('error', () => {}).pipe(api);
    api.on('data', (response) => {
      if (isLosing && losses++ === 0) client.destroy();
      else client.write(response);
    });
    client.once('close', () => api.destroy());
    api.once('close', () => client.destroy());
  });
  const API_URL = apiUrlAt(await listen(t, losing));
  const page = await startLandingPage(t, { settings: { API_URL } });
  const visitor = new Visitor(page.url);
  visitor.cookies.set('visitor', page.visitorIdOf('a'));
  isLosing = true;
  assert.equal((await visitor.get('/')).status, 200);
  assert.equal(losses, 2);
  assert.equal((await figures(page, 'a')).sessions_total, 1);
});

test('the form retains the entered values if the API rejects the submission', async (t) => {
  // The limit allows only the two requests for the experiment and the request for the session.
  const { page, visitor } = await visiting(t, 'a', { market: {}, key: { limits: { requestsPerMinute: 3 } } });
  const { status, headers, text } = await visitor.post('/answers', goodAnswers);
  assert.equal(status, 503);
  assert.ok(Number(headers.get('retry-after')) >= 1);
  assert.match(textOf(text), /We cannot look for offers at the moment/);
  assert.match(text, /name="loan_amount" value="\$10,000"/);
  assert.match(page.log(), /^POST \/inputs: 429 RATE_LIMIT_EXCEEDED, request \S+$/m);
  assert.ok(!page.log().includes('10,000'));
  page.market.clock.advance(60_000);
  assert.equal(await visitor.posted('/answers', goodAnswers), '/offers');
});

test('tells the visitor when to try again if the API has too many sessions or is not running', async (t) => {
  const { page, visitor } = await visiting(t, 'a', { market: { maxSessions: 1 } });
  const full = await visitor.get('/');
  assert.equal(full.status, 503);
  assert.ok(Number(full.headers.get('retry-after')) >= 1);
  assert.match(textOf(full.text), /We are very busy .* Please try again in \d+ (second|minute|hour)s?/);
  await page.market.marketplace.close();
  const { status, headers } = await visitor.post('/answers', goodAnswers);
  assert.deepEqual([status, headers.get('retry-after')], [503, '10']);
});

test('the results page requires the configured password; without a password, only the local machine can open the page', async (t) => {
  const { page, visitor } = await visiting(t, 'a', { key: { limits: { analyticsPerMinute: 10 } } });
  // More reloads than the limit of the API allows.
  for (let reload = 0; reload < 20; reload++) assert.equal((await visitor.get('/results')).status, 200);
  assert.equal((await visitor.get('/results', { 'X-Forwarded-For': '203.0.113.7' })).status, 404);
  assert.equal(await rawStatus(`${page.url}/results`, 'GET', { Host: 'rebound.example' }), 404);

  const locked = await startLandingPage(t, { settings: { RESULTS_PASSWORD: 'sesame: open' } });
  const basic = (text: string) => ({ Authorization: `Basic ${Buffer.from(text).toString('base64')}` });
  const asked = await fetch(`${locked.url}/results`);
  assert.equal(asked.status, 401);
  assert.match(asked.headers.get('www-authenticate')!, /^Basic /);
  assert.equal((await fetch(`${locked.url}/results`, { headers: basic('me:sesame') })).status, 401);
  assert.equal((await fetch(`${locked.url}/results`, { headers: basic('me:sesame: open') })).status, 200);
});

test('cookies are restricted to HTTPS if the page runs behind a proxy', async (t) => {
  const page = await startLandingPage(t, { settings: { BEHIND_PROXY: '1' } });
  const landing = await fetch(page.url);
  const cookies = landing.headers.getSetCookie();
  assert.equal(cookies.length, 2);
  for (const cookie of cookies) assert.match(cookie, /^__Host-[\w-]+=.*; Secure$/);
});

for (const [segment, answers] of Object.entries(visitorAnswers)) {
  test(`${segment}: the quiz leads to offer cards, and a click on a card is counted`, async (t) => {
    const { page, visitor, landing } = await visiting(t, 'b', { segment });
    const { questions, quizTitle, offers } = findProduct(segment);
    assert.ok(textOf(landing.text).includes(quizTitle));
    let location = `/questions/${questions[0]!.id}`;
    const numbered = questions.filter(({ optional }) => optional !== true).length;
    for (let asked = 1; location !== '/offers'; asked++) {
      assert.ok(asked <= questions.length, location);
      const { text } = await visitor.get(location);
      const step = asked > numbered ? 'Almost there' : `Question ${asked} of ${numbered}`;
      assert.ok(textOf(text).includes(step), `${location}: no ${step}`);
      location = await visitor.answer(location.split('/').at(-1)!, answers);
    }
    const { status, text } = await visitor.get('/offers');
    assert.equal(status, 200);
    const [session] = await sessions(page, 'b');
    const [first] = (await page.caller.offers(session!.sub_id, {})).offers;
    const [, card = ''] = /<article(.+?)<\/article>/s.exec(text)!;
    const { lender_name: lender, card: creditCard, deposit, advisor } = first as Offer;
    const name = (creditCard ?? deposit ?? advisor)?.name;
    assert.ok(card.includes(name === undefined ? `>${lender}</h2>` : `>${name}</h2>\n<p>${lender}</p>`), card);
    const offerName = name === undefined ? lender : `${lender}, ${name}`;
    assert.ok(textOf(card).includes(`See the offer of ${offerName} `), textOf(card));
    for (const { label, value, note = '' } of offers.figures(first as Offer, answers)) {
      assert.ok(textOf(card).includes(`${label} ${value}`) && textOf(card).includes(note), `${label} ${value} ${note}`);
    }
    assert.equal(card.includes('class="legal"'), first!.legal !== undefined);
    assert.equal((await page.caller.click(clickUrls(text)[0]!)).status, 302);
    assert.equal((await figures(page, 'b')).offer_clicks, 1);
    assert.match(textOf((await visitor.get('/results')).text), new RegExp(findProduct(segment).revenue.confirmed));
  });
}

test('the form asks for a conditionally required field only while its condition holds', async (t) => {
  const { visitor } = await visiting(t, 'a', { segment: 'mortgage' });
  const answers = visitorAnswers.mortgage!;
  const refused = await visitor.post('/answers', { ...answers, down_payment: '', annual_income: '' });
  assert.equal(refused.status, 422);
  assert.equal(errorBeside(refused.text, 'down_payment'), 'Please answer this question.');
  assert.equal(errorBeside(refused.text, 'annual_income'), 'Please answer this question.');
  assert.ok(!refused.text.includes('mortgage_balance-error'));
  const invalid = await visitor.post('/answers', { ...answers, down_payment: '', property_value: '1' });
  assert.equal(errorBeside(invalid.text, 'property_value'), 'Please enter an amount from $50,000 to $20,000,000.');
  assert.equal(errorBeside(invalid.text, 'down_payment'), 'Please answer this question.');
  assert.ok(!invalid.text.includes('mortgage_balance-error'));
  const refinance = { ...answers, loan_purpose: 'refinance', mortgage_balance: '300,000' };
  assert.equal(await visitor.posted('/answers', refinance), '/offers');
});

test('an optional field of the form can be empty', async (t) => {
  const { visitor } = await visiting(t, 'a', { segment: 'credit-cards' });
  const answers = { ...visitorAnswers['credit-cards'], transfer_amount: '' };
  const refused = await visitor.post('/answers', { ...answers, state: '' });
  assert.equal(errorBeside(refused.text, 'state'), 'Please answer this question.');
  assert.ok(!refused.text.includes('transfer_amount-error'));
  assert.equal(await visitor.posted('/answers', answers), '/offers');
});

test('the form shows the rule of the API for values that are impossible together', async (t) => {
  const { visitor } = await visiting(t, 'a', { segment: 'mortgage' });
  const { text, status } = await visitor.post('/answers', { ...visitorAnswers.mortgage, down_payment: '400,000' });
  assert.equal(status, 422);
  assert.equal(errorBeside(text, 'down_payment'), 'The down payment of a purchase must be less than property value.');
});

test('the start page links the landing pages of all verticals, and a page without an API key is not available', async (t) => {
  const { page } = await visiting(t, 'a');
  const start = await fetch(`${page.origin}/`);
  assert.equal(start.status, 200);
  const html = await start.text();
  for (const { segment } of builtInVerticals.verticals)
    assert.ok(html.includes(`<a class="button" href="/${segment}">`));
  const other = await fetch(`${page.origin}/mortgage`);
  assert.equal(other.status, 404);
  assert.match(textOf(await other.text()), /no API key for Mortgages/);
});

/** Starts the program of the landing page with only these settings. */
function spawnLandingPage(settings: Readonly<Record<string, string>>) {
  const main = fileURLToPath(new URL('../../examples/landing-page/main.ts', import.meta.url));
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [main], { env: { PATH, PORT: '0', ...settings } });
  return { child, ended: once(child, 'close').then(() => child.exitCode), log: text(child.stderr) };
}

test('if the start fails, the landing page prints the reason on one line', async (t) => {
  const { page } = await visiting(t, 'a');
  const url = apiUrlOf(page.market);
  const nobody = apiUrlAt(await findFreePort());
  const other = new URL(page.origin).port;
  for (const [settings, reason] of [
    [{ API_KEY_PERSONAL_LOANS: 'a key' }, /API_KEY_PERSONAL_LOANS contains characters/],
    [{ API_KEY_PERSONAL_LOANS: 'key', API_URL: 'somewhere' }, /API_URL takes an address/],
    [{ API_KEY_PERSONAL_LOANS: 'key', HOST: 'example' }, /HOST takes an IP address/],
    [{ API_KEY_PERSONAL_LOANS: 'key', PORT: '70000' }, /PORT takes a whole number/],
  ] as const) {
    assert.throws(() => readSettings(settings), { name: 'SettingsError', message: reason });
  }
  const known = { API_KEY_PERSONAL_LOANS: page.key, API_URL: url };
  for (const [settings, reason] of [
    [{}, /no API key is set; set at least one of API_KEY_PERSONAL_LOANS, /],
    [{ API_KEY_PERSONAL_LOANS: 'key', API_URL: nobody }, /no answer from .*: start the server with `make run`/],
    [{ API_KEY_PERSONAL_LOANS: 'svc_pl_live_unknown', API_URL: url }, /rejects the key in API_KEY_PERSONAL_LOANS: /],
    [{ ...known, API_URL: url.replace('v1', 'v2') }, /does not serve this page.*404 NOT_FOUND/],
    [{ API_KEY_MORTGAGE: page.key, API_URL: url }, /the key in API_KEY_MORTGAGE is for another vertical/],
    [{ ...known, PORT: other }, /cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\)/],
  ] as const) {
    const { ended, log } = spawnLandingPage(settings as Record<string, string>);
    assert.equal(await ended, 1);
    assert.match(await log, reason);
    assert.match(await log, /^landing page: [^\n]+\n$/);
    assert.ok(!(await log).includes(page.key));
  }
});

test('SIGINT and SIGTERM stop the landing page with exit code 0', async (t) => {
  const { page } = await visiting(t, 'a');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const { child, ended, log } = spawnLandingPage({
      API_KEY_PERSONAL_LOANS: page.key,
      API_URL: apiUrlOf(page.market),
    });
    let printed = '';
    for await (const line of createInterface({ input: child.stdout })) {
      printed += line;
      if (printed.includes('/personal-loans')) break;
    }
    // A keep-alive connection does not delay the stop.
    assert.equal((await fetch(`${/http:\/\/\S+\/personal-loans/.exec(printed)![0]}?variant=a`)).status, 200);
    child.kill(signal);
    assert.deepEqual([await ended, await log], [0, '']);
  }
});
