import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { readEnv } from '../../src/config/env.ts';
import { resolveUrls } from '../../src/config/resolve-urls.ts';

function resolved(settings: Readonly<Record<string, string>>, port: number) {
  return resolveUrls(loadConfig(readEnv(settings)).config, port);
}

function allAt(url: string) {
  return { public: url, click: url, widget: `${url}/w`, cdn: `${url}/cdn` };
}

test('all addresses follow from the host and the port that was bound', () => {
  assert.deepEqual(resolved({ SVC_PORT: '0' }, 41_234), { urls: allAt('http://127.0.0.1:41234'), warnings: [] });
});

test('a listener that speaks TLS is reached by https', () => {
  const settings = { SVC_TLS_CERT: 'one.crt', SVC_TLS_KEY: 'one.key' };
  assert.deepEqual(resolved(settings, 8443).urls, allAt('https://127.0.0.1:8443'));
});

test('an IPv6 host stands in brackets', () => {
  assert.deepEqual(resolved({ SVC_HOST: '::1' }, 80).urls, allAt('http://[::1]:80'));
});

for (const host of ['0.0.0.0', '::', '0:0:0:0:0:0:0:0']) {
  test(`listening on ${host} names the local address, with a warning`, () => {
    const { urls, warnings } = resolved({ SVC_HOST: host }, 8080);
    assert.deepEqual(urls, allAt('http://127.0.0.1:8080'));
    assert.match(warnings.join('\n'), /^The service listens on every address.*SVC_PUBLIC_URL\.$/);
  });
}

test('a public URL stands for the others too, and needs no warning', () => {
  const settings = { SVC_HOST: '0.0.0.0', SVC_PUBLIC_URL: 'https://api.example.com' };
  assert.deepEqual(resolved(settings, 8080), { urls: allAt('https://api.example.com'), warnings: [] });
});

test('each of the others may be elsewhere', () => {
  const { urls } = resolved(
    {
      SVC_CLICK_URL: 'https://go.example.com',
      SVC_WIDGET_URL: 'https://w.example.com',
      SVC_CDN_URL: 'https://cdn.example.com',
    },
    8080,
  );
  assert.deepEqual(urls, {
    public: 'http://127.0.0.1:8080',
    click: 'https://go.example.com',
    widget: 'https://w.example.com',
    cdn: 'https://cdn.example.com',
  });
});

test('a port that browsers refuse is warned of, unless others reach the service by another', () => {
  const refused = /^SVC_PORT is 6667, a port that browsers and fetch refuse .* SVC_PUBLIC_URL /;
  assert.match(resolved({}, 6667).warnings.join('\n'), refused);
  assert.match(resolved({ SVC_WIDGET_URL: 'https://w.example.com' }, 6667).warnings.join('\n'), refused);
  assert.equal(resolved({ SVC_HOST: '0.0.0.0' }, 6667).warnings.length, 2);
  assert.deepEqual(resolved({ SVC_PUBLIC_URL: 'https://api.example.com' }, 6667).warnings, []);
});

test('an address that is set to a port that browsers refuse is warned of by its setting', () => {
  for (const setting of ['SVC_PUBLIC_URL', 'SVC_CLICK_URL', 'SVC_WIDGET_URL', 'SVC_CDN_URL']) {
    const { warnings } = resolved({ [setting]: 'https://api.example.com:10080/path' }, 8080);
    assert.deepEqual(warnings, [
      `${setting} names port 10080, which browsers and fetch refuse to connect to: choose another.`,
    ]);
  }
});
