import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ok } from '../embedded/embedded-marketplace.ts';
import { assertFailed } from './run-marketplace.ts';
import { createSampleData } from './sample-data-folder.ts';

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
    /^hero-test: too_early \(running, results up to \S+ UTC\)\n\nToo early to say: the experiment has no sessions\.\n\n/,
  );
  assert.deepEqual(JSON.parse(json.stdout), { ...expected, as_of_position: 8 });
  assert.deepEqual([text.code, text.stderr, json.code, json.stderr], [0, '', 0, '']);

  for (const args of [[...forHero, '--mode', 'test'], forHero.with(2, 'other-test')]) {
    assertFailed(
      await run(...args),
      1,
      /^marketplace: this account, vertical and mode have no experiment with this name\n$/,
    );
  }
});
