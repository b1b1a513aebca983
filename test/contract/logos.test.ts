import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { renderMonogram } from '../../src/catalogs/read-logos.ts';
import type { MarketplaceResponse } from '../../src/index.ts';
import { image } from '../catalogs/logo-folder.ts';
import { assertError } from '../support/api-caller.ts';
import { ChangeableCatalogs, withoutOffers } from '../support/changeable-catalogs.ts';
import { describeService } from '../support/contract-suite.ts';
import { echoMarker, type HttpClient, type HttpResponse } from '../support/http-client.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { RunningMarketplace, type StartOptions } from '../support/running-marketplace.ts';
import { ServiceConnection } from '../support/service-connection.ts';
import { findListedOffer } from '../support/vertical-fixture.ts';
import { allFixtures, personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const forEver = 'public, max-age=31536000, immutable';
const forNow = 'public, max-age=300';
const hashOf = (text: string) => hash('sha256', text, 'hex').slice(0, 16);

/** Returns path and query of a URL on the image host. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function assertLogoHeaders({ headers }: HttpResponse, content: string, cacheControl: string): void {
  assert.equal(headers.get('content-type'), 'image/svg+xml');
  assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin');
  assert.equal(headers.get('content-security-policy'), "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  assert.equal(headers.get('etag'), `"${hashOf(content)}"`);
  assert.equal(headers.get('cache-control'), cacheControl);
}

async function assertServes(http: HttpClient, path: string, content: string, cacheControl: string): Promise<void> {
  const answer = await http.send({ path });
  assert.deepEqual([answer.status, answer.text], [200, content]);
  assertLogoHeaders(answer, content, cacheControl);
}

/** Returns an offer of a view and its lender. */
function someOffer({ offers }: MarketplaceResponse) {
  const [{ svc_offer_id: id, logo_url: url }] = offers as [MarketplaceResponse['offers'][0]];
  return { url, ...findListedOffer(fixture, id) };
}

describeService('a logo', ({ running }) => {
  const shown = async () => {
    const caller = running().caller(fixture);
    return caller.offers(await caller.createSessionWithFields('logos', fixture.complete), { max_offers: 20 });
  };

  for (const served of allFixtures) {
    test(`every logo URL in a response for ${served.vertical.segment} returns an image that can be cached forever`, async () => {
      const { http, marketplace } = running();
      const caller = running().caller(served);
      const { offers } = await caller.offers(await caller.createSessionWithFields('logos', served.complete), {
        max_offers: 20,
      });
      assert.ok(offers.length > 1);
      for (const { svc_offer_id: id, logo_url: url } of offers) {
        const { logo } = findListedOffer(served, id);
        const [head, v] = url.split('?v=') as [string, string];
        assert.equal(head, `${marketplace.urls.cdn}/${logo}`);
        const answer = await http.send({ path: pathOf(url) });
        assert.equal(answer.status, 200);
        assert.equal(answer.headers.has('x-ratelimit-limit'), false);
        assert.equal(v, hashOf(answer.text));
        assertLogoHeaders(answer, answer.text, forEver);
        assert.match(answer.text, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
      }
    });
  }

  test('a logo URL without the content hash has a short cache time', async () => {
    const { http } = running();
    const { url } = someOffer(await shown());
    const [path, query] = pathOf(url).split('?') as [string, string];
    const { text } = await http.send({ path });
    for (const other of ['', '?', '?v=', '?v=0123456789abcdef', `?${query}&${query}`, `?V=${query}`, `?${query}0`]) {
      await assertServes(http, path + other, text, forNow);
    }
    await assertServes(http, `${path}?other=1&${query}`, text, forEver);
  });

  // The rules of If-None-Match are tested with the widget script, which uses the same code.
  test('returns 304 for an unchanged logo, and responds to HEAD without the image', async () => {
    const { http } = running();
    const path = pathOf(someOffer(await shown()).url);
    const { text } = await http.send({ path });
    for (const method of ['GET', 'HEAD']) {
      const answer = await http.send({ method, path, headers: { 'If-None-Match': `"${hashOf(text)}"` } });
      assert.deepEqual([answer.status, answer.text], [304, '']);
      assert.equal(answer.headers.get('etag'), `"${hashOf(text)}"`);
      assert.equal(answer.headers.get('cache-control'), forEver);
    }
    const head = await http.send({ method: 'HEAD', path });
    assert.deepEqual([head.status, head.text], [200, '']);
    assertLogoHeaders(head, text, forEver);
    assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(text)));
  });

  test('serves logos by exact file name only, and no other files', async () => {
    const { http } = running();
    const { logo } = someOffer(await shown());
    const name = logo.replace('.svg', '');
    const otherNames = ['', `${echoMarker}.svg`, name, `${name}.SVG`, `${name.toUpperCase()}.svg`, `${name}%2esvg`];
    for (const path of [
      ...otherNames,
      ...[`%${name.charCodeAt(0).toString(16)}${name.slice(1)}.svg`, `${logo}%00`, `${logo}/`, `/${logo}`, `./${logo}`],
      ...[`logos/${logo}`, `x/../${logo}`, `${logo};v=1`, '..%2fexample-catalog.json', '../example-catalog.json'],
      ...['../../../../../../../../etc/passwd', '%2e%2e/%2e%2e/etc/passwd', '..%5c..%5cetc%5cpasswd'],
      ...['..\\..\\etc\\passwd', '....//etc/passwd', '%c0%ae%c0%ae/etc/passwd', '/etc/passwd', 'file:///etc/passwd'],
      ...['__proto__', 'constructor', `${'a'.repeat(69)}.svg`, `${'a'.repeat(30_000)}.svg`],
    ]) {
      assertError(await http.send({ path: `/cdn/${path}` }), 'NOT_FOUND');
    }
    for (const path of ['/cdn', `/cdnx/${logo}`, `/CDN/${logo}`, `//cdn/${logo}`, `/w/../cdn/${logo}`, `/${logo}`]) {
      assertError(await http.send({ path }), 'NOT_FOUND');
    }
    for (const method of ['POST', 'OPTIONS', 'HEAD']) {
      const answer = await http.send({ method, path: '/cdn/no-such.svg', headers: { 'Content-Length': '0' } });
      assert.equal(answer.status, 404);
    }
  });

  test('rejects a logo path with a byte that is invalid in a URL', async () => {
    const { logo } = someOffer(await shown());
    for (const byte of ['\0', '\x7f', '\u00ff']) {
      const connection = await ServiceConnection.open(running().http.port);
      connection.send(Buffer.from(`GET /cdn/${logo}${byte} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 'latin1'));
      const { status, body } = await connection.response();
      // The engine may reject the request line before the handler runs.
      assert.ok([400, 404, 505].includes(status), String(status));
      assert.ok(!body.includes('<svg'));
      connection.socket.destroy();
    }
  });
});

describe('logos in the folder of a catalog file', () => {
  const start = async (t: TestContext, logos: Readonly<Record<string, string>> = {}, options: StartOptions = {}) => {
    const catalogs = new ChangeableCatalogs(fixture);
    for (const [file, text] of Object.entries(logos)) catalogs.writeLogo(file, text);
    const market = await RunningMarketplace.start('uws', { catalogs: catalogs.sources, ...options });
    runAfterTest(t, () => market.close());
    const caller = market.caller(fixture);
    const subId = await caller.createSessionWithFields('logos', fixture.complete);
    const ask = () => caller.offers(subId, { max_offers: 20 });
    return { catalogs, market, ask };
  };

  test('a reload applies a changed logo file: the logo URL changes, and the catalog version does not change', async (t) => {
    const { catalogs, market, ask } = await start(t);
    const before = await ask();
    const { url, logo, lender } = someOffer(before);
    await assertServes(market.http, pathOf(url), renderMonogram(lender), forEver);
    for (const colour of ['red', 'blue']) {
      catalogs.writeLogo(logo, image(colour));
      const [change] = await market.marketplace.reloadCatalogs();
      assert.partialDeepStrictEqual(change, {
        ok: true,
        version: before.catalog_version,
        changed: false,
        warnings: [],
      });
      const after = await ask();
      assert.equal(after.catalog_version, before.catalog_version);
      const { url: changed } = someOffer(after);
      assert.equal(changed, `${market.marketplace.urls.cdn}/${logo}?v=${hashOf(image(colour))}`);
      await assertServes(market.http, pathOf(changed), image(colour), forEver);
      // The old URL returns the new image with a short cache time.
      await assertServes(market.http, pathOf(url), image(colour), forNow);
    }
    catalogs.writeLogo(logo, 'no image any more');
    await market.marketplace.reloadCatalogs();
    assert.equal(someOffer(await ask()).url, url);
    await assertServes(market.http, pathOf(url), renderMonogram(lender), forEver);
  });

  test('a reload serves the logos of the new catalog, and still serves the logos of removed lenders', async (t) => {
    const { catalogs, market, ask } = await start(t);
    const { url, logo, lender } = someOffer(await ask());
    const [gone, ...rest] = catalogs.initialCatalog.lenders.toSorted(
      (one, other) => Number(other.logo === logo) - Number(one.logo === logo),
    );
    catalogs.writeCatalog({ ...withoutOffers(catalogs.initialCatalog, []), lenders: rest });
    for (const { logo } of rest) catalogs.writeLogo(logo, image(logo));
    const [change] = await market.marketplace.reloadCatalogs();
    assert.ok(change?.ok && change.changed);
    assert.equal(gone?.name, lender);
    const { offers } = await ask();
    for (const { svc_offer_id: id, logo_url: shown } of offers) {
      const { logo } = findListedOffer(fixture, id);
      await assertServes(market.http, pathOf(shown), image(logo), forEver);
    }
    await assertServes(market.http, pathOf(url), renderMonogram(lender), forEver);
  });

  test('logs missing logos at the start and at each reload', async (t) => {
    const lines: { readonly lenders?: number; readonly msg: string }[] = [];
    const logger = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
    const { catalogs, market } = await start(t, {}, { logger });
    const { lenders } = catalogs.initialCatalog;
    const logged = () => lines.splice(0).flatMap(({ lenders, msg }) => (/logos/.test(msg) ? [lenders ?? msg] : []));
    // Catalogs without files have no logos, and cause no warning.
    assert.deepEqual(logged(), [lenders.length]);
    catalogs.writeLogo(lenders[0]!.logo, image('red'));
    await market.marketplace.reloadCatalogs();
    assert.deepEqual(logged(), [lenders.length - 1]);
    for (const { logo } of lenders) catalogs.writeLogo(logo, image('red'));
    await market.marketplace.reloadCatalogs();
    await market.marketplace.reloadCatalogs();
    assert.deepEqual(logged(), ['all lender logos found']);
  });

  test('after a restart, serves the logos of a catalog that was replaced', async (t) => {
    const { catalogs, market } = await start(t);
    const [gone, left, ...rest] = catalogs.initialCatalog.lenders;
    catalogs.writeLogo(gone!.logo, image('red'));
    await market.restart(() => catalogs.writeCatalog({ ...catalogs.initialCatalog, lenders: rest }));
    assert.equal((await market.http.send({ path: `/cdn/${gone!.logo}` })).text, image('red'));
    assert.equal((await market.http.send({ path: `/cdn/${left!.logo}` })).text, renderMonogram(left!.name));
  });
});
