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
  readOperationsListenerAddress,
} from '../../src/config/config.ts';
import { ConfigError, readEnv, settingNames } from '../../src/config/env.ts';
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
      listen: {
        host: '127.0.0.1',
        port: 8080,
        operationsHost: '127.0.0.1',
        operationsPort: 9090,
        operationsAllowedHosts: [],
        engine: 'auto',
        tls: null,
      },
      drain: { delayMs: 0, deadlineMs: 5_000 },
      urls: { public: null, click: null, widget: null, cdn: null },
      dataDir: '/srv/app/data',
      secretFile: '/srv/app/data/secrets.json',
      catalogPath: null,
      matcherThreads: 3,
      durability: 'fsync',
      retentionDays: null,
      maxSessions: 1_000,
      sessionTtlMs: 14_400_000,
      maxReferrerTags: 100_000,
      confirmationGraceDays: 7,
      limits: { requestsPerMinute: 500, analyticsPerMinute: 50, sessionsPerDay: 10_000 },
      corsOrigins: [],
      testClock: false,
      logLevel: 'info',
      shards: 1,
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
    SVC_SHARDS: '4',
    SVC_MATCHER_THREADS: '0',
    SVC_DURABILITY: 'write',
    SVC_RETENTION_DAYS: '140',
    SVC_MAX_SESSIONS: '500',
    SVC_SESSION_TTL_SECONDS: '2',
    SVC_LIMIT_REQUESTS_PER_MINUTE: '1',
    SVC_LIMIT_ANALYTICS_PER_MINUTE: '2',
    SVC_LIMIT_SESSIONS_PER_DAY: '3',
    SVC_LIMIT_REFERRER_TAGS: '4',
    SVC_CONFIRMATION_GRACE_DAYS: '0',
    SVC_CORS_ORIGINS: 'https://www.example.com, http://localhost:3000',
    SVC_TEST_CLOCK: 'off',
    SVC_LOG_LEVEL: 'silent',
  });
  assert.deepEqual(config, {
    listen: {
      host: '::1',
      port: 0,
      operationsHost: 'ops.internal',
      operationsPort: 65_535,
      operationsAllowedHosts: ['marketplace', 'my_app.ops.internal'],
      engine: 'node',
      tls: { certificateFile: '/srv/app/tls/one.crt', keyFile: '/etc/tls/one.key', minVersion: '1.3' },
    },
    drain: { delayMs: 15_000, deadlineMs: 30_000 },
    urls: {
      public: 'https://api.example.com/offers',
      click: 'https://go.example.com',
      widget: 'http://widget.example.com:8443',
      cdn: 'https://cdn.example.com/a/b',
    },
    dataDir: '/var/lib/marketplace',
    secretFile: '/srv/app/secrets/one.json',
    catalogPath: '/srv/app/catalog.json',
    matcherThreads: 0,
    durability: 'write',
    retentionDays: 140,
    maxSessions: 500,
    sessionTtlMs: 2_000,
    maxReferrerTags: 4,
    confirmationGraceDays: 0,
    limits: { requestsPerMinute: 1, analyticsPerMinute: 2, sessionsPerDay: 3 },
    corsOrigins: ['https://www.example.com', 'http://localhost:3000'],
    testClock: false,
    logLevel: 'silent',
    shards: 4,
  });
  assert.deepEqual(warnings, []);
});

test('treats an empty environment variable as unset', () => {
  const emptied = Object.fromEntries(settingNames.map((name) => [name, '']));
  assert.deepEqual(load(emptied), load());
});

test('configures one matching thread on a machine with one core', () => {
  assert.equal(load({}, { cores: 1 }).config.matcherThreads, 1);
});

for (const [name, values] of [
  ['SVC_HOST', ['http://127.0.0.1', '127.0.0.1:8080', '999.1.1.1']],
  ['SVC_PORT', ['65536', '-1', '80.5', '0x50', ' 80', 'tcp://10.0.0.1:80']],
  ['SVC_OPS_HOST', ['a b']],
  ['SVC_OPS_PORT', ['http']],
  ['SVC_OPS_ALLOWED_HOSTS', ['ops.internal:9090', '*', 'ops.internal,']],
  ['SVC_PUBLIC_URL', ['api.example.com', 'ftp://api.example.com', 'https://user:secret@api.example.com']],
  ['SVC_CLICK_URL', ['https://go.example.com?x=1', 'https://go.example.com?']],
  ['SVC_WIDGET_URL', ['https://w.example.com#top']],
  ['SVC_CDN_URL', ['//cdn.example.com']],
  ['SVC_LISTENER', ['UWS']],
  ['SVC_TLS_CERT', ['without-a-key.pem']],
  ['SVC_TLS_KEY', ['without-a-certificate.pem']],
  ['SVC_TLS_MIN_VERSION', ['1.1', '1.2']],
  ['SVC_DRAIN_DELAY_SECONDS', ['601']],
  ['SVC_DRAIN_DEADLINE_SECONDS', ['0']],
  ['SVC_SHARDS', ['0', '65', 'all']],
  ['SVC_MATCHER_THREADS', ['257']],
  ['SVC_DURABILITY', ['none']],
  ['SVC_RETENTION_DAYS', ['139', '0', '36501']],
  ['SVC_MAX_SESSIONS', ['0', '1e6']],
  ['SVC_SESSION_TTL_SECONDS', ['14401', '0']],
  ['SVC_LIMIT_REQUESTS_PER_MINUTE', ['0']],
  ['SVC_LIMIT_ANALYTICS_PER_MINUTE', ['1000001']],
  ['SVC_LIMIT_SESSIONS_PER_DAY', ['unlimited']],
  ['SVC_CORS_ORIGINS', ['*', 'https://www.example.com/', 'https://www.example.com,']],
  ['SVC_CORS_ORIGINS', [Array.from({ length: 65 }, (_, n) => `https://${n}.example.com`).join(',')]],
  ['SVC_TEST_CLOCK', ['ON', 'true', '1']],
  ['SVC_LOG_LEVEL', ['verbose']],
] as const) {
  test(`rejects ${name}=${values.map((value) => JSON.stringify(value.slice(0, 40))).join(' and ')}`, () => {
    for (const value of values) {
      const message = new RegExp(`^${name} is "`);
      assert.throws(() => load({ [name]: value }), { name: 'ConfigError', setting: name, message }, value);
    }
  });
}

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

test('rejects two listeners on the same address and port, and names the setting that causes the conflict', () => {
  const samePort = { SVC_PORT: '7000', SVC_OPS_PORT: '7000' };
  for (const [settings, setting] of [
    [{ ...samePort, SVC_HOST: '10.0.0.1', SVC_OPS_HOST: '10.0.0.1' }, 'SVC_OPS_PORT'],
    [{ ...samePort, SVC_HOST: '0.0.0.0', SVC_OPS_HOST: '10.0.0.1' }, 'SVC_OPS_PORT'],
    [{ ...samePort, SVC_HOST: '10.0.0.1', SVC_OPS_HOST: '::' }, 'SVC_OPS_PORT'],
    [{ SVC_OPS_PORT: '8080' }, 'SVC_OPS_PORT'],
    [{ SVC_PORT: '9090' }, 'SVC_PORT'],
  ] as const) {
    assert.throws(() => load(settings), { name: 'ConfigError', setting }, JSON.stringify(settings));
  }
  load({ ...samePort, SVC_HOST: '10.0.0.1', SVC_OPS_HOST: '127.0.0.1' });
  load({ SVC_PORT: '0', SVC_OPS_PORT: '0' });
});

test('a test clock requires that both listeners have loopback addresses', () => {
  const on = { SVC_TEST_CLOCK: 'on' };
  for (const [hosts, setting] of [
    [{}, null],
    [{ SVC_HOST: 'localhost', SVC_OPS_HOST: '::1' }, null],
    [{ SVC_HOST: '127.0.0.2', SVC_OPS_HOST: '127.255.255.254' }, null],
    [{ SVC_HOST: '0.0.0.0' }, 'SVC_HOST'],
    [{ SVC_HOST: '::' }, 'SVC_HOST'],
    [{ SVC_HOST: '10.0.0.1' }, 'SVC_HOST'],
    [{ SVC_HOST: '::ffff:127.0.0.1' }, 'SVC_HOST'],
    [{ SVC_HOST: '127.example.com' }, 'SVC_HOST'],
    [{ SVC_HOST: 'localhost.example.com' }, 'SVC_HOST'],
    [{ SVC_OPS_HOST: '0.0.0.0' }, 'SVC_OPS_HOST'],
    [{ SVC_OPS_HOST: 'ops.internal' }, 'SVC_OPS_HOST'],
  ] as const) {
    const hostsText = JSON.stringify(hosts);
    if (setting === null) assert.equal(load({ ...on, ...hosts }).config.testClock, true, hostsText);
    else {
      const error = { name: 'ConfigError', setting, message: /must be a loopback address .* SVC_TEST_CLOCK is on$/ };
      assert.throws(() => load({ ...on, ...hosts }), error, hostsText);
    }
    load({ SVC_TEST_CLOCK: 'off', ...hosts });
  }
});

test('rejects a misspelled setting and suggests the correct name', () => {
  for (const [name, meant] of [
    ['SVC_PROT', 'SVC_PORT'],
    ['SVC_DATADIR', 'SVC_DATA_DIR'],
    ['SVC_LIMIT_REQUEST_PER_MINUTE', 'SVC_LIMIT_REQUESTS_PER_MINUTE'],
    ['SVC_OPSS_PORT', 'SVC_OPS_PORT'],
    ['MARKETPLACE_HEAP_MBS', 'MARKETPLACE_HEAP_MB'],
    ['MARKETPLACE_HAEP_MB', 'MARKETPLACE_HEAP_MB'],
    ['SVC_HEAP_MB', 'MARKETPLACE_HEAP_MB'],
  ] as const) {
    const message = `${name} is set, but no setting has this name; did you mean ${meant}?`;
    assert.throws(() => load({ [name]: '1' }), { name: 'ConfigError', setting: meant, message });
  }
});

test('readDataDir and readOperationsListenerAddress each report only misspellings of settings that the function reads', () => {
  readDataDir(readEnv({ SVC_PROT: '1' }));
  assert.throws(() => readDataDir(readEnv({ SVC_DATA_DRI: '/x' })), /did you mean SVC_DATA_DIR/);
  assert.throws(() => readOperationsListenerAddress(readEnv({ SVC_OPS_HOTS: '::1' })), /did you mean SVC_OPS_HOST/);
});

test('warns about unknown SVC_ and MARKETPLACE_ variables, except MARKETPLACE_API_KEY and variables that Kubernetes sets', () => {
  const unknown = ['SVC_FLAVOUR', 'MARKETPLACE_HEAP', 'MARKETPLACE_HOST'];
  const links = ['SERVICE_HOST', 'SERVICE_PORT', 'SERVICE_PORT_API', 'PORT', 'PORT_8080_TCP', 'PORT_8080_TCP_ADDR'];
  const ofKubernetes = ['SVC_MARKETPLACE', 'MARKETPLACE'].flatMap((service) =>
    links.map((link) => `${service}_${link}`),
  );
  const set = [...unknown, ...ofKubernetes, 'MARKETPLACE_API_KEY', 'OTHER'];
  const { warnings } = load(Object.fromEntries(set.map((name) => [name, 'x'])));
  assert.deepEqual(
    warnings,
    unknown.map((name) => `${name} is set, but no setting has this name.`),
  );
});

test('errors hide URL passwords and suggest the correct spelling of a misspelled value', () => {
  for (const [settings, message] of [
    [
      { SVC_PUBLIC_URL: 'https://me:hidden@api.example.com' },
      /^ConfigError: SVC_PUBLIC_URL is "https:\/\/\.\.\.@api\.example\.com"; /,
    ],
    [{ SVC_DURABILITY: 'fysnc' }, /; it must be one of fsync, write; did you mean fsync\?$/],
  ] as const) {
    assert.throws(() => load(settings), message);
  }
});

test('warns about an operations port that browsers block, and about too little memory for SVC_MAX_SESSIONS', () => {
  for (const [settings, warning] of [
    [{ SVC_OPS_PORT: '6000' }, /^SVC_OPS_PORT is 6000, a port that fetch blocks,.*$/],
    [{ SVC_MAX_SESSIONS: '1000' }, /^$/],
    [{ SVC_MAX_SESSIONS: '1001' }, /SVC_MAX_SESSIONS.*1000/],
  ] as const) {
    assert.match(load(settings).warnings.join('\n'), warning);
  }
});

test('configRisks returns one warning for each risk', () => {
  const secure = { SVC_HOST: '10.0.0.1', SVC_PUBLIC_URL: 'https://api.example.com' };
  for (const [settings, message] of [
    [{}, null],
    [secure, null],
    [{ SVC_PUBLIC_URL: 'http://api.example.com' }, /^SVC_PUBLIC_URL in replies use http,/],
    [{ ...secure, SVC_CLICK_URL: 'http://go.example.com' }, /^SVC_CLICK_URL in replies use http,/],
    [{ SVC_OPS_HOST: '0.0.0.0' }, /^SVC_OPS_HOST makes 0\.0\.0\.0:9090 reachable/],
    [{ SVC_DURABILITY: 'write' }, /^SVC_DURABILITY is write,/],
    [{ SVC_SESSION_TTL_SECONDS: '60' }, /^SVC_SESSION_TTL_SECONDS ends sessions after 60 s/],
    [{ SVC_LIMIT_ANALYTICS_PER_MINUTE: '501' }, /^SVC_LIMIT_ANALYTICS_PER_MINUTE is above/],
    [{ SVC_MATCHER_THREADS: '5' }, /^SVC_MATCHER_THREADS is 5, but this machine has 4 cores/],
    [{ SVC_LOG_LEVEL: 'silent' }, /^SVC_LOG_LEVEL is silent,/],
  ] as const) {
    const { config } = load(settings);
    const risks = configRisks(config, resolveUrls(config, config.listen.port).urls, machine);
    assert.equal(risks.length, message === null ? 0 : 1, JSON.stringify(settings));
    if (message !== null) assert.match(risks[0]!, message);
  }
});

function resolve(settings: Readonly<Record<string, string>>, port: number) {
  return resolveUrls(load(settings).config, port);
}

function allAt(url: string) {
  return { public: url, click: url, widget: `${url}/w`, cdn: `${url}/cdn` };
}

test('derives public URLs from the address of the listener or from SVC_PUBLIC_URL', () => {
  const tls = { SVC_TLS_CERT: 'one.crt', SVC_TLS_KEY: 'one.key' };
  const behindProxy = { SVC_HOST: '0.0.0.0', SVC_PUBLIC_URL: 'https://api.example.com' };
  for (const [settings, port, url] of [
    [{ SVC_PORT: '0' }, 41_234, 'http://127.0.0.1:41234'],
    [tls, 8443, 'https://127.0.0.1:8443'],
    [{ SVC_HOST: '::1' }, 80, 'http://[::1]:80'],
    [behindProxy, 8080, 'https://api.example.com'],
  ] as const) {
    assert.deepEqual(resolve(settings, port), { urls: allAt(url), warnings: [] });
  }
});

test('replaces a wildcard address in public URLs with 127.0.0.1 and warns', () => {
  for (const host of ['0.0.0.0', '::', '0:0:0:0:0:0:0:0']) {
    const { urls, warnings } = resolve({ SVC_HOST: host }, 8080);
    assert.deepEqual(urls, allAt('http://127.0.0.1:8080'));
    assert.match(warnings.join('\n'), /^SVC_HOST is a wildcard address.*SVC_PUBLIC_URL\.$/);
  }
});

test('a URL setting overrides the URL that is derived from the listener address', () => {
  const [click, widget, cdn] = ['https://go.example.com', 'https://w.example.com', 'https://cdn.example.com'];
  const { urls } = resolve({ SVC_CLICK_URL: click, SVC_WIDGET_URL: widget, SVC_CDN_URL: cdn }, 8080);
  assert.deepEqual(urls, { public: 'http://127.0.0.1:8080', click, widget, cdn });
});

test('unless SVC_PUBLIC_URL is set, warns about a public port that browsers block', () => {
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

test('the list of blocked ports contains exactly the ports that fetch() rejects', async () => {
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
