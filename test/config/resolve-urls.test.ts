import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockedPorts, loadConfig } from '../../src/config/config.ts';
import { readEnv } from '../../src/config/env.ts';
import { resolveUrls } from '../../src/config/resolve-urls.ts';

function resolve(settings: Readonly<Record<string, string>>, port: number) {
  return resolveUrls(loadConfig(readEnv(settings)).config, port);
}

function allAt(url: string) {
  return { public: url, click: url, widget: `${url}/w`, cdn: `${url}/cdn` };
}

test('derives all URLs from the host and the bound port', () => {
  assert.deepEqual(resolve({ SVC_PORT: '0' }, 41_234), { urls: allAt('http://127.0.0.1:41234'), warnings: [] });
});

test('uses https with TLS', () => {
  const settings = { SVC_TLS_CERT: 'one.crt', SVC_TLS_KEY: 'one.key' };
  assert.deepEqual(resolve(settings, 8443).urls, allAt('https://127.0.0.1:8443'));
});

test('puts an IPv6 host in brackets', () => {
  assert.deepEqual(resolve({ SVC_HOST: '::1' }, 80).urls, allAt('http://[::1]:80'));
});

for (const host of ['0.0.0.0', '::', '0:0:0:0:0:0:0:0']) {
  test(`replaces the wildcard address ${host} with 127.0.0.1 and warns`, () => {
    const { urls, warnings } = resolve({ SVC_HOST: host }, 8080);
    assert.deepEqual(urls, allAt('http://127.0.0.1:8080'));
    assert.match(warnings.join('\n'), /^SVC_HOST is a wildcard address.*SVC_PUBLIC_URL\.$/);
  });
}

test('derives the other URLs from SVC_PUBLIC_URL without a warning', () => {
  const settings = { SVC_HOST: '0.0.0.0', SVC_PUBLIC_URL: 'https://api.example.com' };
  assert.deepEqual(resolve(settings, 8080), { urls: allAt('https://api.example.com'), warnings: [] });
});

test('uses each URL that is set', () => {
  const { urls } = resolve(
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

test('warns about a blocked port unless SVC_PUBLIC_URL is set', () => {
  const warning = /^SVC_PORT is 6667, a port that browsers and fetch block,.* SVC_PUBLIC_URL /;
  assert.match(resolve({}, 6667).warnings.join('\n'), warning);
  assert.match(resolve({ SVC_WIDGET_URL: 'https://w.example.com' }, 6667).warnings.join('\n'), warning);
  assert.equal(resolve({ SVC_HOST: '0.0.0.0' }, 6667).warnings.length, 2);
  assert.deepEqual(resolve({ SVC_PUBLIC_URL: 'https://api.example.com' }, 6667).warnings, []);
});

test('warns about a blocked port in a configured URL', () => {
  for (const setting of ['SVC_PUBLIC_URL', 'SVC_CLICK_URL', 'SVC_WIDGET_URL', 'SVC_CDN_URL']) {
    const { warnings } = resolve({ [setting]: 'https://api.example.com:10080/path' }, 8080);
    assert.deepEqual(warnings, [`${setting} has port 10080, which browsers and fetch block; choose another port.`]);
  }
});

test('the list of blocked ports agrees with fetch', async () => {
  const connected: number[] = [];
  const dispatcher = {
    dispatch: ({ origin }: { readonly origin: string }) => {
      connected.push(Number(new URL(origin).port || 80));
      throw new Error('connected');
    },
  } as unknown as NonNullable<RequestInit['dispatcher']>;
  const neighbours = [...blockedPorts].map((port) => port + 1).filter((port) => !blockedPorts.has(port));
  for (const port of [...blockedPorts, ...neighbours]) {
    await assert.rejects(fetch(`http://127.0.0.1:${port}/`, { dispatcher }));
  }
  assert.deepEqual(connected, neighbours);
});
