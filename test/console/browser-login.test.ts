import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { findFreePort } from '../../bench/target/free-port.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { useConsoles } from './console-browser.ts';

const { partner } = useConsoles(() => RunningMarketplace.start('uws'));

async function openBrowser(t: TestContext) {
  const context = await partner.browser.newContext();
  runAfterTest(t, () => context.close());
  return { market: partner.market, context };
}

/** Sends a request from the scripts of a page, with its cookies. Returns the status; 0 if the browser or CORS refused it. */
function send(page: Page, url: string, method = 'GET', body: string | null = null, type = 'application/json') {
  return page.evaluate(
    async (request) => {
      const headers = request.body === null ? {} : { 'Content-Type': request.type };
      const init: RequestInit = { method: request.method, headers, body: request.body, credentials: 'include' };
      return fetch(request.url, init).then(
        ({ status }) => status,
        () => 0,
      );
    },
    { url, method, body, type },
  );
}

test('a login works behind a path prefix, and scripts cannot read its cookie', {
  skip: spawnSync('nginx', ['-v']).error !== undefined,
}, async (t) => {
  const { market, context } = await openBrowser(t);
  const folder = temporaryFolder(t);
  const port = await findFreePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (each) => `${each}_temp_path ${folder}/${each};`,
  );
  const location = `location /market/ { proxy_pass http://127.0.0.1:${market.http.port}/; proxy_http_version 1.1; proxy_set_header Host $http_host; }`;
  const config = `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}
    http { access_log off; ${temporary.join(' ')} server { listen 127.0.0.1:${port}; ${location} } }`;
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, config);
  const proxy = spawn('nginx', ['-c', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(proxy, 'exit');
  runAfterTest(t, async () => {
    proxy.kill('SIGTERM');
    await exited;
  });
  const origin = `http://127.0.0.1:${port}`;
  while ((await fetch(origin).catch(() => null)) === null) await sleep(20);

  const page = await context.newPage();
  await page.goto(`${origin}/market/console`);
  assert.equal(page.url(), `${origin}/market/console/`);
  const { key } = market.issueKey(personalLoansFixture);
  assert.equal(await send(page, './api/login', 'POST', JSON.stringify({ key })), 200);
  const [cookie] = await context.cookies(`${origin}/market/console/api/login`);
  const { name, path, httpOnly, sameSite, secure } = cookie!;
  assert.deepEqual(
    { name, path, httpOnly, sameSite, secure },
    { name: 'svc_console', path: '/market/console/api', httpOnly: true, sameSite: 'Strict', secure: false },
  );
  assert.equal(await page.evaluate('document.cookie'), '');
  assert.equal(await send(page, './api/v1/personal-loans/tags'), 200);
  assert.equal(await send(page, '../v1/personal-loans/tags'), 401);
  assert.equal(await send(page, './api/login', 'DELETE'), 204);
  assert.deepEqual(await context.cookies(), []);
  assert.equal(await send(page, './api/login'), 401);
});

test('logins at both consoles of one host do not end each other', async (t) => {
  const { market, context } = await openBrowser(t);
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${market.http.port}/console/`);
  const { key } = market.issueKey(personalLoansFixture);
  assert.equal(await send(page, './api/login', 'POST', JSON.stringify({ key })), 200);
  const other = await context.newPage();
  await other.goto(`http://127.0.0.1:${market.operations.port}/console/`);
  assert.equal(await send(other, './api/login', 'POST', JSON.stringify({ token: market.operatorToken })), 200);
  assert.equal(await send(other, './api/keys'), 200);
  assert.equal(await send(page, './api/login'), 200);
});

test('pages of other origins can neither frame the console nor use or replace its login', async (t) => {
  const { market, context } = await openBrowser(t);
  const target = `http://127.0.0.1:${market.http.port}`;
  const { key } = market.issueKey(personalLoansFixture);
  const attackerKey = market.issueKey(personalLoansFixture).key;
  const page = await context.newPage();
  await page.goto(`${target}/console/`);
  assert.equal(await send(page, './api/login', 'POST', JSON.stringify({ key })), 200);
  const cookies = await context.cookies();
  const attack = createServer((_request, response) => response.setHeader('Content-Type', 'text/html').end('<p>attack'));
  attack.listen(0, '127.0.0.1');
  await once(attack, 'listening');
  runAfterTest(t, () => {
    attack.closeAllConnections();
    attack.close();
  });
  const { port } = attack.address() as AddressInfo;
  // Ports of one host belong to the same site, so that browsers send the cookie with the requests of the second page.
  for (const origin of [`http://localhost:${port}`, `http://127.0.0.1:${port}`]) {
    const foreign = await context.newPage();
    await foreign.goto(origin);
    const login = `${target}/console/api/login`;
    assert.equal(await send(foreign, login), 0, origin);
    assert.equal(await send(foreign, login, 'DELETE'), 0, origin);
    assert.equal(await send(foreign, login, 'POST', JSON.stringify({ key: attackerKey }), 'text/plain'), 0, origin);
    // The body of this form is JSON.
    await foreign.setContent(`<form method="post" enctype="text/plain" action="${login}">
      <input name='{"key":"${attackerKey}","ignored":"' value='"}'></form>`);
    const [answer] = await Promise.all([
      foreign.waitForResponse(login),
      foreign.evaluate('document.forms[0].submit()'),
    ]);
    assert.deepEqual([answer.status(), (await answer.json()).error], [403, 'CROSS_SITE_REQUEST'], origin);
    await foreign.goto(origin);
    await foreign.setContent(`<iframe src="${target}/console/"></iframe>`);
    await foreign.waitForFunction('window.frames.length === 1');
    while (foreign.frames()[1]?.url() === 'about:blank') await sleep(20);
    assert.match(foreign.frames()[1]?.url() ?? '', /^chrome-error:/, origin);
  }
  assert.deepEqual(await context.cookies(), cookies);
  assert.equal(await send(page, './api/login'), 200);
});
