import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { renderMonogram } from '../../src/catalogs/read-logos.ts';
import { createMarketplace } from '../../src/index.ts';
import { image } from '../catalogs/logo-folder.ts';
import { afterwards } from '../support/afterwards.ts';
import { ChangeableCatalogs } from '../support/changeable-catalogs.ts';
import { HttpClient } from '../support/http-client.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

/** Starts marketplaces on one data folder, one after another, and collects their warnings. */
function starting(t: TestContext) {
  const catalogs = new ChangeableCatalogs(fixture);
  const dataDir = mkdtempSync(join(tmpdir(), 'marketplace-test-'));
  afterwards(t, () => {
    catalogs.remove();
    rmSync(dataDir, { recursive: true });
  });
  const lines: { readonly lenders?: number; readonly msg: string }[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  const start = async (sources = catalogs.sources) => {
    const options = { dataDir, catalogs: sources, durability: 'write', listen: {} } as const;
    const marketplace = await createMarketplace({ ...options, logger: pino({ level: 'info' }, sink) });
    afterwards(t, () => marketplace.close());
    return marketplace;
  };
  const warned = () => lines.splice(0).filter(({ msg }) => /monogram|logo/.test(msg));
  return { catalogs, start, warned };
}

test('warns once per catalog reload about missing logos', async (t) => {
  const { catalogs, start, warned } = starting(t);
  const { lenders } = catalogs.first;
  const marketplace = await start();
  assert.deepEqual(
    warned().map(({ lenders }) => lenders),
    [lenders.length],
  );
  catalogs.writeLogo(lenders[0]!.logo, image('red'));
  await marketplace.reloadCatalogs();
  assert.deepEqual(
    warned().map(({ lenders }) => lenders),
    [lenders.length - 1],
  );
  for (const { logo } of lenders) catalogs.writeLogo(logo, image('red'));
  await marketplace.reloadCatalogs();
  await marketplace.reloadCatalogs();
  assert.deepEqual(
    warned().map(({ msg }) => msg),
    ['all lender logos found'],
  );
});

test('does not warn about logos of catalogs without files', async (t) => {
  const { start, warned } = starting(t);
  const { live, test: sandbox } = fixture.catalogFiles;
  const { vertical } = fixture;
  await start([
    { vertical, mode: 'live', text: JSON.stringify(live) },
    { vertical, mode: 'test', text: JSON.stringify(sandbox) },
  ]);
  assert.deepEqual(warned(), []);
});

test('serves logos of a replaced catalog after a restart', async (t) => {
  const { catalogs, start } = starting(t);
  const [gone, left, ...rest] = catalogs.first.lenders as [
    (typeof catalogs.first.lenders)[0],
    (typeof catalogs.first.lenders)[0],
  ];
  catalogs.writeLogo(gone.logo, image('red'));
  await (await start()).close();
  catalogs.write({ ...catalogs.first, lenders: rest });
  const http = new HttpClient((await start()).ports!.public);
  afterwards(t, () => http.close());
  assert.equal((await http.send({ path: `/cdn/${gone.logo}` })).text, image('red'));
  assert.equal((await http.send({ path: `/cdn/${left.logo}` })).text, renderMonogram(left.name));
});
