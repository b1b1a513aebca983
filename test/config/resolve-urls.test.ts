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
  assert.deepEqual(resolved({ SVC_PORT: '0' }, 41_234), { urls: allAt('http://127.0.0.1:41234'), warning: null });
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
    const { urls, warning } = resolved({ SVC_HOST: host }, 8080);
    assert.deepEqual(urls, allAt('http://127.0.0.1:8080'));
    assert.match(warning ?? '', /SVC_PUBLIC_URL/);
  });
}

test('a public URL stands for the others too, and needs no warning', () => {
  const settings = { SVC_HOST: '0.0.0.0', SVC_PUBLIC_URL: 'https://api.example.com' };
  assert.deepEqual(resolved(settings, 8080), { urls: allAt('https://api.example.com'), warning: null });
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
