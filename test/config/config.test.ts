import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { configRisks } from '../../src/cli/commands/check-config.ts';
import {
  browserBlockedPorts,
  loadConfig,
  type MachineResources,
  readDataDir,
  readOperationsEndpoint,
} from '../../src/config/config.ts';
import { ConfigError, readEnv, type SettingName, settingNames } from '../../src/config/env.ts';
import { resolveUrls } from '../../src/config/resolve-urls.ts';

const machine: MachineResources = {
  cores: 4,
  heapBytes: 1_000 * bounds.sessionHeapBytes,
  heapMegabytes: null,
  workingFolder: '/srv/app',
};

function load(settings: Readonly<Record<string, string>> = {}, on: Partial<MachineResources> = {}) {
  return loadConfig(readEnv(settings), { ...machine, ...on });
}

test('returns the default settings for an empty environment', () => {
  assert.deepEqual(load(), {
    config: {
      publicEndpoint: { host: '127.0.0.1', port: 8080 },
      operationsEndpoint: { host: '127.0.0.1', port: 9090 },
      operationsAllowedHosts: [],
      engine: 'auto',
      tls: null,
      drain: { delayMs: 0, deadlineMs: 5_000 },
      urls: { public: null, click: null, widget: null, cdn: null },
      dataDir: '/srv/app/data',
      secretFile: '/srv/app/data/secrets.json',
      catalog: { kind: 'example' },
      matcher: { kind: 'workers', threads: 3 },
      durability: 'fsync',
      retentionDays: null,
      sessions: { max: 1_000, ttlMs: 14_400_000, tagsMax: 100_000 },
      limits: { requestsPerMinute: 500, analyticsPerMinute: 50, sessionsPerDay: 10_000 },
      cors: { kind: 'off' },
      logLevel: 'info',
    },
    warnings: [],
  });
});

test('reads every setting from its environment variable', () => {
  const { config, warnings } = load({
    SVC_HOST: '::1',
    SVC_PORT: '0',
    SVC_OPS_HOST: 'ops.internal',
    SVC_OPS_PORT: '65535',
    SVC_OPS_ALLOWED_HOSTS: 'marketplace, my_app.ops.internal,marketplace',
    SVC_PUBLIC_URL: 'https://api.example.com/offers/',
    SVC_CLICK_URL: 'https://go.example.com',
    SVC_WIDGET_URL: 'http://widget.example.com:8443/',
    SVC_CDN_URL: 'https://cdn.example.com/a/b',
    SVC_DATA_DIR: '/var/lib/marketplace',
    SVC_SECRET_FILE: 'secrets/one.json',
    SVC_CATALOG: 'catalog.json',
    SVC_LISTENER: 'node',
    SVC_TLS_CERT: 'tls/one.crt',
    SVC_TLS_KEY: '/etc/tls/one.key',
    SVC_TLS_MIN_VERSION: '1.3',
    SVC_DRAIN_DELAY_SECONDS: '15',
    SVC_DRAIN_DEADLINE_SECONDS: '30',
    SVC_MATCHER_THREADS: '0',
    SVC_DURABILITY: 'write',
    SVC_RETENTION_DAYS: '140',
    SVC_MAX_SESSIONS: '500',
    SVC_SESSION_TTL_SECONDS: '2',
    SVC_LIMIT_REQUESTS_PER_MINUTE: '1',
    SVC_LIMIT_ANALYTICS_PER_MINUTE: '2',
    SVC_LIMIT_SESSIONS_PER_DAY: '3',
    SVC_LIMIT_REFERRER_TAGS: '4',
    SVC_CORS_ORIGINS: 'https://www.example.com, http://localhost:3000',
    SVC_LOG_LEVEL: 'silent',
  });
  assert.deepEqual(config, {
    publicEndpoint: { host: '::1', port: 0 },
    operationsEndpoint: { host: 'ops.internal', port: 65_535 },
    operationsAllowedHosts: ['marketplace', 'my_app.ops.internal'],
    engine: 'node',
    tls: { certificateFile: '/srv/app/tls/one.crt', keyFile: '/etc/tls/one.key', minVersion: '1.3' },
    drain: { delayMs: 15_000, deadlineMs: 30_000 },
    urls: {
      public: 'https://api.example.com/offers',
      click: 'https://go.example.com',
      widget: 'http://widget.example.com:8443',
      cdn: 'https://cdn.example.com/a/b',
    },
    dataDir: '/var/lib/marketplace',
    secretFile: '/srv/app/secrets/one.json',
    catalog: { kind: 'file', path: '/srv/app/catalog.json' },
    matcher: { kind: 'in_thread' },
    durability: 'write',
    retentionDays: 140,
    sessions: { max: 500, ttlMs: 2_000, tagsMax: 4 },
    limits: { requestsPerMinute: 1, analyticsPerMinute: 2, sessionsPerDay: 3 },
    cors: { kind: 'origins', origins: ['https://www.example.com', 'http://localhost:3000'] },
    logLevel: 'silent',
  });
  assert.deepEqual(warnings, []);
});

test('treats an empty environment variable as unset', () => {
  const emptied = Object.fromEntries(settingNames.map((name) => [name, '']));
  assert.deepEqual(load(emptied), load());
});

test('configures one matching thread on a machine with one core', () => {
  assert.deepEqual(load({}, { cores: 1 }).config.matcher, { kind: 'workers', threads: 1 });
});

const invalid: readonly (readonly [SettingName, string])[] = [
  ['SVC_HOST', 'http://127.0.0.1'],
  ['SVC_HOST', '127.0.0.1:8080'],
  ['SVC_HOST', '999.1.1.1'],
  ['SVC_PORT', '65536'],
  ['SVC_PORT', '-1'],
  ['SVC_PORT', '80.5'],
  ['SVC_PORT', '0x50'],
  ['SVC_PORT', ' 80'],
  ['SVC_PORT', 'tcp://10.0.0.1:80'],
  ['SVC_OPS_HOST', 'a b'],
  ['SVC_OPS_PORT', 'http'],
  ['SVC_OPS_ALLOWED_HOSTS', 'ops.internal:9090'],
  ['SVC_OPS_ALLOWED_HOSTS', '*'],
  ['SVC_OPS_ALLOWED_HOSTS', 'ops.internal,'],
  ['SVC_PUBLIC_URL', 'api.example.com'],
  ['SVC_PUBLIC_URL', 'ftp://api.example.com'],
  ['SVC_PUBLIC_URL', 'https://user:secret@api.example.com'],
  ['SVC_CLICK_URL', 'https://go.example.com?x=1'],
  ['SVC_CLICK_URL', 'https://go.example.com?'],
  ['SVC_WIDGET_URL', 'https://w.example.com#top'],
  ['SVC_CDN_URL', '//cdn.example.com'],
  ['SVC_LISTENER', 'UWS'],
  ['SVC_TLS_CERT', 'without-a-key.pem'],
  ['SVC_TLS_KEY', 'without-a-certificate.pem'],
  ['SVC_TLS_MIN_VERSION', '1.1'],
  ['SVC_TLS_MIN_VERSION', '1.2'],
  ['SVC_DRAIN_DELAY_SECONDS', '601'],
  ['SVC_DRAIN_DEADLINE_SECONDS', '0'],
  ['SVC_MATCHER_THREADS', '257'],
  ['SVC_DURABILITY', 'none'],
  ['SVC_RETENTION_DAYS', '139'],
  ['SVC_RETENTION_DAYS', '0'],
  ['SVC_RETENTION_DAYS', '36501'],
  ['SVC_MAX_SESSIONS', '0'],
  ['SVC_MAX_SESSIONS', '1e6'],
  ['SVC_SESSION_TTL_SECONDS', '14401'],
  ['SVC_SESSION_TTL_SECONDS', '0'],
  ['SVC_LIMIT_REQUESTS_PER_MINUTE', '0'],
  ['SVC_LIMIT_ANALYTICS_PER_MINUTE', '1000001'],
  ['SVC_LIMIT_SESSIONS_PER_DAY', 'unlimited'],
  ['SVC_CORS_ORIGINS', '*'],
  ['SVC_CORS_ORIGINS', 'https://www.example.com/'],
  ['SVC_CORS_ORIGINS', 'https://www.example.com,'],
  ['SVC_CORS_ORIGINS', Array.from({ length: 65 }, (_, n) => `https://${n}.example.com`).join(',')],
  ['SVC_LOG_LEVEL', 'verbose'],
];
for (const [name, value] of invalid) {
  test(`rejects ${name}=${JSON.stringify(value.slice(0, 40))}`, () => {
    assert.throws(
      () => load({ [name]: value }),
      (error: unknown) =>
        error instanceof ConfigError && error.setting === name && error.message.startsWith(`${name} is "`),
    );
  });
}

test('the error for an invalid setting names the variable, its value and the allowed values in one line', () => {
  assert.throws(() => load({ SVC_PORT: '99999' }), {
    name: 'ConfigError',
    message: 'SVC_PORT is "99999"; it must be an integer from 0 to 65535',
  });
});

test('every error for an invalid setting is one line of at most 1,000 characters', () => {
  fc.assert(
    fc.property(fc.constantFrom(...settingNames), fc.string({ unit: 'binary', maxLength: 2_000 }), (name, value) => {
      try {
        load({ [name]: value });
      } catch (error) {
        assert(error instanceof ConfigError);
        assert.match(error.message, /^[^\n\r\u2028\u2029]{1,1000}$/);
      }
    }),
  );
});

for (const [name, hosts] of [
  ['the same host', { SVC_HOST: '10.0.0.1', SVC_OPS_HOST: '10.0.0.1' }],
  ['a wildcard address and another address', { SVC_HOST: '0.0.0.0', SVC_OPS_HOST: '10.0.0.1' }],
  ['an address and a wildcard address', { SVC_HOST: '10.0.0.1', SVC_OPS_HOST: '::' }],
] as const) {
  test(`rejects the same port for the public and the operations listener on ${name}`, () => {
    assert.throws(() => load({ ...hosts, SVC_PORT: '7000', SVC_OPS_PORT: '7000' }), {
      name: 'ConfigError',
      setting: 'SVC_OPS_PORT',
    });
  });
}

test('the error for a port that equals a default port names the variable that was set', () => {
  assert.throws(() => load({ SVC_PORT: '9090' }), { setting: 'SVC_PORT' });
  assert.throws(() => load({ SVC_OPS_PORT: '8080' }), { setting: 'SVC_OPS_PORT' });
});

test('accepts the same port on different addresses, and port 0 twice', () => {
  load({ SVC_HOST: '10.0.0.1', SVC_OPS_HOST: '127.0.0.1', SVC_PORT: '7000', SVC_OPS_PORT: '7000' });
  load({ SVC_PORT: '0', SVC_OPS_PORT: '0' });
});

test('warns about an unknown variable with the prefix SVC_', () => {
  const { warnings } = load({ SVC_FLAVOUR: 'x', OTHER: 'x' });
  assert.deepEqual(warnings, ['SVC_FLAVOUR is set, but no setting has this name.']);
});

test('rejects a misspelled setting and suggests the correct name', () => {
  for (const [name, meant] of [
    ['SVC_PROT', 'SVC_PORT'],
    ['SVC_DATADIR', 'SVC_DATA_DIR'],
    ['SVC_LIMIT_REQUEST_PER_MINUTE', 'SVC_LIMIT_REQUESTS_PER_MINUTE'],
    ['SVC_OPSS_PORT', 'SVC_OPS_PORT'],
  ] as const) {
    const message = `${name} is set, but no setting has this name; did you mean ${meant}?`;
    assert.throws(() => load({ [name]: '1' }), { name: 'ConfigError', setting: meant, message });
  }
});

test('readDataDir and readOperationsEndpoint reject only misspellings of their own settings', () => {
  readDataDir(readEnv({ SVC_PROT: '1' }));
  assert.throws(() => readDataDir(readEnv({ SVC_DATA_DRI: '/x' })), /did you mean SVC_DATA_DIR/);
  assert.throws(() => readOperationsEndpoint(readEnv({ SVC_OPS_HOTS: '::1' })), /did you mean SVC_OPS_HOST/);
});

test('suggests MARKETPLACE_HEAP_MB for misspellings with either prefix', () => {
  for (const name of ['MARKETPLACE_HEAP_MBS', 'MARKETPLACE_HAEP_MB', 'SVC_HEAP_MB']) {
    assert.throws(() => load({ [name]: '900' }), { name: 'ConfigError', setting: 'MARKETPLACE_HEAP_MB' }, name);
  }
});

test('warns about unknown variables with the prefix MARKETPLACE_, except MARKETPLACE_API_KEY', () => {
  const { warnings } = load({ MARKETPLACE_HEAP: '900', MARKETPLACE_HOST: '::1', MARKETPLACE_API_KEY: 'x' });
  assert.deepEqual(warnings, [
    'MARKETPLACE_HEAP is set, but no setting has this name.',
    'MARKETPLACE_HOST is set, but no setting has this name.',
  ]);
});

test('ignores the variables that Kubernetes sets for other services', () => {
  const links = ['SERVICE_HOST', 'SERVICE_PORT', 'SERVICE_PORT_API', 'PORT', 'PORT_8080_TCP', 'PORT_8080_TCP_ADDR'];
  for (const service of ['SVC_MARKETPLACE', 'MARKETPLACE']) {
    const { warnings } = load(Object.fromEntries(links.map((link) => [`${service}_${link}`, 'x'])));
    assert.deepEqual(warnings, []);
  }
});

test('errors hide the password of a URL, and suggest a similar value for a misspelled choice', () => {
  assert.throws(
    () => load({ SVC_PUBLIC_URL: 'https://me:hidden@api.example.com' }),
    (error: Error) => {
      assert.match(error.message, /^SVC_PUBLIC_URL is "https:\/\/\.\.\.@api\.example\.com"; /);
      return true;
    },
  );
  assert.throws(() => load({ SVC_DURABILITY: 'fysnc' }), /; it must be one of fsync, write; did you mean fsync\?$/);
});

test('warns if fetch blocks the operations port', () => {
  assert.match(
    load({ SVC_OPS_PORT: '6000' }).warnings.join('\n'),
    /^SVC_OPS_PORT is 6000, a port that fetch blocks,.*$/,
  );
});

test('warns if the heap is too small for SVC_MAX_SESSIONS', () => {
  assert.equal(load({ SVC_MAX_SESSIONS: '1000' }).warnings.length, 0);
  assert.match(load({ SVC_MAX_SESSIONS: '1001' }).warnings.join(), /SVC_MAX_SESSIONS.*1000/);
});

function risks(settings: Readonly<Record<string, string>>): readonly string[] {
  const { config } = loadConfig(readEnv(settings), machine);
  return configRisks(config, resolveUrls(config, config.publicEndpoint.port).urls, machine);
}

test('configRisks returns no warnings for the defaults and for a public https URL', () => {
  assert.deepEqual(risks({}), []);
  assert.deepEqual(risks({ SVC_HOST: '10.0.0.1', SVC_PUBLIC_URL: 'https://api.example.com' }), []);
});

for (const [settings, message] of [
  [{ SVC_PUBLIC_URL: 'http://api.example.com' }, /^SVC_PUBLIC_URL in replies use http,/],
  [
    { SVC_PUBLIC_URL: 'https://api.example.com', SVC_CLICK_URL: 'http://go.example.com' },
    /^SVC_CLICK_URL in replies use http,/,
  ],
  [{ SVC_OPS_HOST: '0.0.0.0' }, /^SVC_OPS_HOST makes 0\.0\.0\.0:9090 reachable/],
  [{ SVC_DURABILITY: 'write' }, /^SVC_DURABILITY is write,/],
  [{ SVC_SESSION_TTL_SECONDS: '60' }, /^SVC_SESSION_TTL_SECONDS ends sessions after 60 s/],
  [{ SVC_LIMIT_ANALYTICS_PER_MINUTE: '501' }, /^SVC_LIMIT_ANALYTICS_PER_MINUTE is above/],
  [{ SVC_MATCHER_THREADS: '5' }, /^SVC_MATCHER_THREADS is 5, but this machine has 4 cores/],
  [{ SVC_LOG_LEVEL: 'silent' }, /^SVC_LOG_LEVEL is silent,/],
] as const) {
  test(`configRisks returns one warning for ${JSON.stringify(settings)}`, () => {
    const [risk, ...more] = risks(settings);
    assert.match(risk ?? '', message);
    assert.deepEqual(more, []);
  });
}

function resolve(settings: Readonly<Record<string, string>>, port: number) {
  return resolveUrls(load(settings).config, port);
}

function allAt(url: string) {
  return { public: url, click: url, widget: `${url}/w`, cdn: `${url}/cdn` };
}

test('derives all public URLs from the host and the bound port', () => {
  assert.deepEqual(resolve({ SVC_PORT: '0' }, 41_234), { urls: allAt('http://127.0.0.1:41234'), warnings: [] });
});

test('derived URLs use https if TLS is configured', () => {
  const settings = { SVC_TLS_CERT: 'one.crt', SVC_TLS_KEY: 'one.key' };
  assert.deepEqual(resolve(settings, 8443).urls, allAt('https://127.0.0.1:8443'));
});

test('derived URLs contain an IPv6 host in brackets', () => {
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

test('a configured URL replaces the derived URL', () => {
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

test('warns about a public port that browsers block unless SVC_PUBLIC_URL is set', () => {
  const warning = /^SVC_PORT is 6667, a port that browsers and fetch block,.* SVC_PUBLIC_URL /;
  assert.match(resolve({}, 6667).warnings.join('\n'), warning);
  assert.match(resolve({ SVC_WIDGET_URL: 'https://w.example.com' }, 6667).warnings.join('\n'), warning);
  assert.equal(resolve({ SVC_HOST: '0.0.0.0' }, 6667).warnings.length, 2);
  assert.deepEqual(resolve({ SVC_PUBLIC_URL: 'https://api.example.com' }, 6667).warnings, []);
});

test('warns about a configured URL with a port that browsers block', () => {
  for (const setting of ['SVC_PUBLIC_URL', 'SVC_CLICK_URL', 'SVC_WIDGET_URL', 'SVC_CDN_URL']) {
    const { warnings } = resolve({ [setting]: 'https://api.example.com:10080/path' }, 8080);
    assert.deepEqual(warnings, [`${setting} has port 10080, which browsers and fetch block; choose another port.`]);
  }
});

test('the list of blocked ports equals the ports that fetch blocks', async () => {
  const connected: number[] = [];
  const dispatcher = {
    dispatch: ({ origin }: { readonly origin: string }) => {
      connected.push(Number(new URL(origin).port || 80));
      throw new Error('connected');
    },
  } as unknown as NonNullable<RequestInit['dispatcher']>;
  const neighbours = [...browserBlockedPorts].map((port) => port + 1).filter((port) => !browserBlockedPorts.has(port));
  for (const port of [...browserBlockedPorts, ...neighbours]) {
    await assert.rejects(fetch(`http://127.0.0.1:${port}/`, { dispatcher }));
  }
  assert.deepEqual(connected, neighbours);
});
