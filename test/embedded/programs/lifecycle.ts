import assert from 'node:assert/strict';
import process from 'node:process';
import { Settings } from 'typebox/system';
import type { PartnerApiResult } from '../../../src/index.ts';

/**
 * Runs the life cycle of a program that embeds the service: `node lifecycle.ts FOLDER ENGINE MATCHER_THREADS`, with the
 * engine `none`, `uws` or `node`. Never calls `process.exit`, so the program ends only if closing the service releases all
 * handles. Fails if the service has changed a global.
 */
const [, , dataDir = '', engine = 'none', matcherThreads = '0'] = process.argv;

const before = hostGlobals();
const { InvalidCatalogError, createMarketplace, personalLoans } = await import('../../../src/index.ts');

function ok<Value>(result: PartnerApiResult<Value>): Value {
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

const urls = { click: 'https://go.example' };
const faulty = (['live', 'test'] as const).map((mode) => ({ vertical: personalLoans, mode, text: '{ "lenders": 1 }' }));
await assert.rejects(createMarketplace({ dataDir, urls, catalogs: faulty }), InvalidCatalogError);
assert.deepEqual(hostGlobals(), before);

const marketplace = await createMarketplace({
  dataDir,
  urls,
  listen: engine === 'uws' || engine === 'node' ? { engine } : false,
  matcherThreads: Number(matcherThreads),
});
assert.deepEqual(hostGlobals(), before);
const { key } = marketplace.keys.create({ account: 'embedded', vertical: 'personal-loans', mode: 'live' });
const partner = marketplace.partnerApi(key);
const { sub_id } = ok(await partner.createSession({ referrer_tag: 'embedded' }));
const fields = {
  loan_amount: 10_000,
  loan_purpose: 'major_purchase',
  credit_score_range: '750-799',
  annual_income: 120_000,
  employment_status: 'employed',
  state: 'CA',
};
ok(await partner.submitInputs({ sub_id, fields }));
const { offers } = ok(await partner.getMarketplace({ sub_id }));
const click = await marketplace.followClick(offers[0]!.click_url);
assert.equal(click.kind, 'redirect');
if (marketplace.ports !== null) {
  // A keep-alive connection must not keep the process alive.
  const answer = await fetch(`http://127.0.0.1:${marketplace.ports.public}/`);
  assert.equal(answer.url, `http://127.0.0.1:${marketplace.ports.public}/docs`);
  await answer.arrayBuffer();
}
const summary = ok(await partner.queryAnalytics({ referrer_tag: 'embedded' }));
assert.deepEqual([summary.sessions_total, summary.marketplace_views, summary.offer_clicks], [1, 1, 1]);
await marketplace.close();
await marketplace.close();
assert.deepEqual(hostGlobals(), before);

/** Returns the current state of globals that belong to the program that embeds the service. */
function hostGlobals() {
  return {
    environment: { ...process.env },
    processListeners: process.eventNames().map((name) => [name, process.listeners(name as 'exit')]),
    umask: process.umask(),
    title: process.title,
    globals: Object.getOwnPropertyNames(globalThis).sort(),
    builtins: [Object, Array, String, Promise, Date, Error].map((builtin) => [
      Object.getOwnPropertyNames(builtin),
      Object.getOwnPropertyNames(builtin.prototype),
    ]),
    stackTraceLimit: Error.stackTraceLimit,
    typebox: { ...Settings.Get() },
  };
}
