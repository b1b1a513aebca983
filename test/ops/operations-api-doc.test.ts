import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { publicRouteNames } from '../../src/http/routes/route-names.ts';
import { logNames } from '../../src/metrics/gauges.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { requestEveryRoute, Scrape, scrapeOverTls } from '../support/scrape.ts';

const page = readFileSync(new URL('../../docs/operations-api.md', import.meta.url), 'utf8');

describe('the page on the operations listener', () => {
  let market: RunningMarketplace;
  before(async () => {
    market = await RunningMarketplace.start('uws');
    await requestEveryRoute(market);
  });
  after(() => market?.close());

  test('lists exactly the metrics of a scrape with type and labels', async () => {
    const { families } = (await Scrape.of(market.operations)).joinedBy(await scrapeOverTls());
    const shown = [...families.values()].map(({ name, type, samples }) => {
      const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
      labels.delete('le');
      return `${name}, ${type}: ${[...labels].sort().join(' ')}`;
    });
    const rows = page.matchAll(/^\| `([a-z_]+)` \| (counter|gauge|histogram) \|([^|]*)\|/gm);
    const told = [...rows].map(
      ([, name, type, labels]) =>
        `${name}, ${type}: ${labels!.trim().replaceAll('`', '').split(', ').sort().join(' ')}`,
    );
    assert.deepEqual(told.sort(), shown.sort());
  });

  test('names every label value', async () => {
    const scrape = await Scrape.of(market.operations);
    const values = ['limit', 'reason', 'kind'].flatMap((label) =>
      scrape.samples.flatMap(({ labels }) => labels[label] ?? []),
    );
    for (const value of [...values, ...publicRouteNames, ...logNames]) assert.ok(page.includes(`\`${value}\``), value);
  });

  test('has commands that run unchanged', async (t) => {
    // Where the page says they are for: the data in `data/`.
    const folder = mkdtempSync(join(tmpdir(), 'operations-page-'));
    t.after(() => rmSync(folder, { recursive: true }));
    symlinkSync(market.dataDir, join(folder, 'data'));
    const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
    assert.ok(blocks.length >= 4);
    const script = blocks.join('').replace('127.0.0.1:9090', `127.0.0.1:${market.operations.port}`);
    const commands = script.replaceAll('curl -sS', 'curl -sS --fail-with-body');
    const { stdout } = await promisify(execFile)('bash', ['-euc', commands], { cwd: folder });
    const lines = stdout.split('\n');
    assert.deepEqual(lines.slice(0, 2), ['{"status":"ok"}', '{"status":"ready"}']);
    const [issued, list, shown, revoked] = lines.slice(2, 6).map((line) => JSON.parse(line));
    assert.match(issued.key, /^svc_pl_test_/);
    assert.equal(issued.requests_per_minute, 2_000);
    assert.ok(list.length >= 2);
    assert.deepEqual([shown.id, shown.state, revoked.id, revoked.state], [issued.id, 'active', issued.id, 'revoked']);
    const [allowed, all, ofAcme, removed] = lines.slice(6, 10).map((line) => JSON.parse(line));
    assert.equal(allowed.length, 2);
    assert.deepEqual(all, ofAcme);
    assert.deepEqual(removed, [{ origin: 'http://localhost:3000', outcome: 'removed' }]);
    assert.match(lines.slice(10).join('\n'), /^marketplace_ready 1$/m);
    assert.equal(market.marketplace.keys.list().find(({ id }) => id === issued.id)?.revokedAtMs !== null, true);
  });
});
