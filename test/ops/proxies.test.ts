import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../bench/target/free-port.ts';
import { bounds } from '../../src/bounds.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';

const guide = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');

/** Returns the configuration in the operating guide, on ports of the test and without TLS. */
function documentedConfig(
  language: string,
  changes: readonly (readonly [documented: string, instead: string])[],
): string {
  const [, block = assert.fail()] = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(guide) ?? [];
  const seconds = Number(/keepalive(?:_timeout)? (\d+)s/.exec(block)![1]);
  assert.ok(seconds * 1000 < bounds.connectionIdleTimeoutMs);
  return changes.reduce((config, [documented, instead]) => {
    assert.ok(config.includes(documented), documented);
    return config.replace(documented, instead);
  }, block);
}

const proxies = {
  nginx: (port: number, target: number, folder: string) => {
    const server = documentedConfig('nginx', [
      ['127.0.0.1:8080', `127.0.0.1:${target}`],
      ['listen 443 ssl', `listen 127.0.0.1:${port}`],
      ['  ssl_certificate /etc/ssl/offers.example.com.pem;\n', ''],
      ['  ssl_certificate_key /etc/ssl/offers.example.com.key;\n', ''],
    ]);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const http = `http { access_log off; ${paths.join(' ')}\n${server} }`;
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, `daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}\n${http}`);
    return ['-c', file];
  },
  caddy: (port: number, target: number, folder: string) => {
    const site = documentedConfig('caddyfile', [
      ['127.0.0.1:8080', `127.0.0.1:${target}`],
      ['offers.example.com', `http://127.0.0.1:${port}`],
    ]);
    const file = join(folder, 'Caddyfile');
    writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
    return ['run', '--adapter', 'caddyfile', '--config', file];
  },
};

for (const [program, configure] of Object.entries(proxies)) {
  const isInstalled = spawnSync(program, [program === 'nginx' ? '-v' : 'version']).error === undefined;
  test(`the ${program} configuration of docs/operating.md passes requests with 500 session ids`, {
    skip: !isInstalled,
  }, async (t) => {
    const market = await RunningMarketplace.start('uws');
    runAfterTest(t, () => market.close());
    const folder = temporaryFolder(t);
    const port = await findFreePort();
    const env = { ...process.env, HOME: folder };
    const args = configure(port, market.marketplace.ports!.public, folder);
    const proxy = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    const exited = once(proxy, 'exit');
    runAfterTest(t, async () => {
      proxy.kill('SIGTERM');
      await exited;
    });
    const origin = `http://127.0.0.1:${port}`;
    while ((await fetch(origin).catch(() => null)) === null) {
      assert.equal(proxy.exitCode, null);
      await sleep(20);
    }
    const { key } = market.issueKey(personalLoansFixture);
    const { sub_id } = await new ApiCaller(market.http, 'personal-loans', key).createSession('proxied');
    const ids = Array.from({ length: 500 }, () => sub_id).join(',');
    // `fetch`, because a proxy adds headers that `HttpClient` does not expect.
    const headers = { Authorization: `Bearer ${key}`, Connection: 'close' };
    const answer = await fetch(`${origin}/v1/personal-loans/analytics?sub_id_list=${ids}`, { headers });
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    assert.equal(JSON.parse(text).sessions_total, 1);
  });
}
