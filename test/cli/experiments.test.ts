import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ExperimentResponse, ExperimentsResponse } from '../../src/index.ts';
import { ok } from '../embedded/embedded-marketplace.ts';
import { ApiCaller, assertOk } from '../support/api-caller.ts';
import { HttpClient } from '../support/http-client.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { assertFailed, runMarketplace } from './run-marketplace.ts';
import { createKey, createSampleData, sampleExperiment } from './sample-data-folder.ts';
import { ServedProcess } from './served-process.ts';

const unknownExperiment = /^marketplace: this account, vertical and mode have no experiment with this name; .*\n$/;

test('experiments list and show print what the API returns', async (t) => {
  const { run, partner, marketplace } = await createSampleData(t);
  const texts = { hypothesis: 'line one\nline two', dimensions: ['page'] };
  const shown = ok(await partner.defineExperiment({ name: 'b-test', ...sampleExperiment, ...texts, cap_usd: 250 }));
  const arms = sampleExperiment.arms.map((arm) => ({ ...arm, referrer_tag: `${arm.referrer_tag}-two` }));
  ok(await partner.defineExperiment({ name: 'a-test', ...sampleExperiment, arms, control: 'hero-long-two' }));
  const hidden = ok(await partner.deleteExperiment({ name: 'a-test' }));
  const forAcme = ['--account', 'acme'];

  const list = await run('experiments', 'list', ...forAcme);
  assert.match(list.stdout, /^STATE +FIRST DAY .*\nrunning +\d{4}-.* +session +2 +b-test\n$/);
  assert.match(list.stderr, /^1 experiment, as of record \d+ of the ledger\.\n$/);
  const withPosition = (view: ExperimentResponse) => ({
    ...view,
    as_of_position: JSON.parse(listJson.stdout).as_of_position,
  });
  const listJson = await run('experiments', 'list', ...forAcme, '--json');
  assert.deepEqual(JSON.parse(listJson.stdout), withPosition(shown));
  for (const view of [shown, hidden]) {
    const { stdout } = await run('experiments', 'show', view.name, ...forAcme, '--json');
    assert.deepEqual(JSON.parse(stdout), withPosition(view));
  }
  const text = await run('experiments', 'show', 'b-test', ...forAcme);
  assert.match(text.stdout, /^name +b-test\nstate +running\n/);
  // Characters that would change the terminal are escaped.
  assert.match(text.stdout, /\ncap +250 USD per session\nhypothesis +"line one\\nline two"\ndimensions +page\n/);
  assert.match(text.stdout, /\nhero-short +0\.5 +-\n$/);
  assert.match((await run('experiments', 'show', 'a-test', ...forAcme)).stdout, /\nstate +running, deleted\n/);

  assertFailed(await run('experiments', 'show', 'c-test', ...forAcme), 1, unknownExperiment);
  assertFailed(await run('experiments', 'show', 'b-test', ...forAcme, '--mode', 'test'), 1, unknownExperiment);
  assertFailed(await run('experiments', 'show', 'B test', ...forAcme), 2, /The name must have 3 to 64/);
  assertFailed(await run('experiments', 'list', '--account', 'nobody'), 1, /unknown account/);
  await marketplace.close();
  assert.deepEqual((await run('experiments', 'list', ...forAcme)).stdout, list.stdout);
});

test('experiments create defines an experiment on a running server, which survives kill -9', async (t) => {
  const folder = join(temporaryFolder(t), 'data');
  const settings = { SVC_DATA_DIR: folder };
  const start = async () => {
    const server = new ServedProcess(t, settings);
    const { public: port } = await server.ports();
    return { server, port, url: `http://127.0.0.1:${port}` };
  };
  let running = await start();
  const { key } = await createKey(folder);
  const keyFile = join(folder, '..', 'partner.key');
  writeFileSync(keyFile, `${key}\n`);
  const create = (...words: readonly string[]) =>
    runMarketplace(['experiments', 'create', ...words, '--key-file', keyFile, '--url', running.url], settings);

  const created = await create(
    'a-test',
    '--arm',
    'one-arm=0.25',
    '--arm',
    'two-arm=0.75',
    '--hypothesis',
    'more',
    '--json',
  );
  assert.equal(created.code, 0, created.stderr);
  const experiment: ExperimentResponse = JSON.parse(created.stdout);
  assert.deepEqual(
    [experiment.control, experiment.unit, experiment.hypothesis, experiment.arms.map(({ weight }) => weight)],
    ['one-arm', 'session', 'more', [0.25, 0.75]],
  );
  const file = join(folder, '..', 'experiment.json');
  writeFileSync(file, JSON.stringify({ ...sampleExperiment, unit: 'visitor' }));
  const fromFile = await create('b-test', file, '--assignment', 'hash', '--cap-usd', '99.5');
  assert.match(
    fromFile.stdout,
    /^name +b-test\nstate +running\n(?:.*\n)*unit +visitor, assigned by hash\n(?:.*\n)*cap +99\.5 USD/,
  );

  assertFailed(
    await create('c-test', '--arm', 'one-arm=0.5', '--arm', 'three-arm=0.5'),
    1,
    /rejects the request: referrer_tag must not/,
  );
  assertFailed(await create('c-test'), 1, /rejects the request: arms must be an array/);
  assertFailed(await create('c-test', '--arm', 'four-arm:0.5'), 2, /like hero-short-form=0\.5/);
  assertFailed(await create('c-test', keyFile), 1, /partner\.key does not contain a JSON object/);
  assertFailed(await create('c-test', join(folder, 'none.json')), 1, /none\.json does not exist/);
  const withKeyFile = (path: string, url: string) =>
    runMarketplace(['experiments', 'create', 'c-test', file, '--key-file', path, '--url', url], settings);
  assertFailed(await withKeyFile(file, running.url), 1, /experiment\.json does not contain an API key|is larger than/);
  assertFailed(await withKeyFile(keyFile, 'http://127.0.0.1:1'), 1, /cannot be requested|no server responds/);

  const close = (...words: readonly string[]) =>
    runMarketplace(['experiments', 'close', ...words, '--key-file', keyFile, '--url', running.url], settings);
  const closed = await close('b-test', '--outcome', 'ship', '--arm', 'hero-short', '--note', 'earns more');
  assert.match(
    closed.stdout,
    /^name +b-test\nstate +closed\n(?:.*\n)*closed +\S+ by key_[0-9a-f]{12}: ship hero-short\nnote +"earns more"\n/,
  );
  assert.equal(
    JSON.parse(
      (await close('b-test', '--outcome', 'ship', '--arm', 'hero-short', '--note', 'earns more', '--json')).stdout,
    ).state,
    'closed',
  );
  assertFailed(await close('b-test', '--outcome', 'broken'), 1, /rejects the request: outcome cannot change/);
  assertFailed(await close('b-test', '--outcome', 'won'), 2, /Allowed choices are ship/);
  assertFailed(await close('c-test', '--outcome', 'broken'), 1, unknownExperiment);

  // The server is killed while it answers requests.
  const answered: ExperimentResponse[] = [];
  const connect = () => {
    const http = new HttpClient(running.port);
    runAfterTest(t, () => http.close());
    return new ApiCaller(http, 'personal-loans', key);
  };
  const caller = connect();
  const bodyOf = (name: string) => ({
    ...sampleExperiment,
    arms: ['one', 'two'].map((tag) => ({ referrer_tag: `${name}-${tag}`, weight: 0.5 })),
    control: `${name}-one`,
  });
  const names = Array.from({ length: 27 }, (_, at) => `kill-${at}`);
  await Promise.all(
    names.map(async (name) => {
      const answer = await caller.send('PUT', `experiments/${name}`, bodyOf(name)).catch(() => null);
      if (answer !== null) answered.push(assertOk(answer));
      if (answered.length === 10) running.server.child.kill('SIGKILL');
    }),
  );
  await running.server.ended;
  assert.ok(answered.length >= 10 && answered.length < names.length, `${answered.length} answers`);
  running = await start();
  const again = connect();
  const page = assertOk<ExperimentsResponse>(await again.send('GET', 'experiments'));
  for (const view of [experiment, ...answered]) {
    assert.deepEqual(
      page.data.find(({ name }) => name === view.name),
      view,
    );
  }
  for (const name of names) assertOk(await again.send('PUT', `experiments/${name}`, bodyOf(name)));
});

test('marketplace experiments results prints the results of the API as text and as JSON', async (t) => {
  const { run, partner } = await createSampleData(t);
  const arms = ['hero-short', 'hero-long'].map((referrer_tag) => ({ referrer_tag, weight: 0.5 }));
  const startsOn = new Date().toISOString().slice(0, 10);
  const definition = { arms, control: 'hero-long', unit: 'session', starts_on: startsOn } as const;
  ok(await partner.defineExperiment({ name: 'hero-test', ...definition }));
  const expected = ok(await partner.getExperimentResults({ name: 'hero-test', series: true }));
  const forHero = ['experiments', 'results', 'hero-test', '--account', 'acme'];

  const [text, json] = [await run(...forHero), await run(...forHero, '--json')];
  assert.match(
    text.stdout,
    /^hero-test: too_early \(running, results up to \S+ UTC\)\n\nToo early to say: the results up to \d+ \w+ \d+ \(UTC\) count no sessions\.\n\n/,
  );
  assert.deepEqual(JSON.parse(json.stdout), { ...expected, as_of_position: 8 });
  assert.deepEqual([text.code, text.stderr, json.code, json.stderr], [0, '', 0, '']);

  for (const args of [[...forHero, '--mode', 'test'], forHero.with(2, 'other-test')]) {
    assertFailed(await run(...args), 1, unknownExperiment);
  }
});
