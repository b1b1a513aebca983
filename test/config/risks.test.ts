import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { loadConfig } from '../../src/config/config.ts';
import { configRisks } from '../../src/config/config-risks.ts';
import { readEnv } from '../../src/config/env.ts';
import { resolveUrls } from '../../src/config/resolve-urls.ts';

const machine = {
  cores: 4,
  heapBytes: 1_000 * bounds.sessionHeapBytes,
  heapMegabytes: null,
  workingFolder: '/srv/app',
};

function risks(settings: Readonly<Record<string, string>>): readonly string[] {
  const { config } = loadConfig(readEnv(settings), machine);
  return configRisks(config, resolveUrls(config, config.publicEndpoint.port).urls, machine);
}

test('defaults, and what a service behind an encrypting proxy has, risk nothing', () => {
  assert.deepEqual(risks({}), []);
  assert.deepEqual(risks({ SVC_HOST: '10.0.0.1', SVC_PUBLIC_URL: 'https://api.example.com' }), []);
});

for (const [settings, told] of [
  [{ SVC_PUBLIC_URL: 'http://api.example.com' }, /^Answers name SVC_PUBLIC_URL by http,/],
  [
    { SVC_PUBLIC_URL: 'https://api.example.com', SVC_CLICK_URL: 'http://go.example.com' },
    /^Answers name SVC_CLICK_URL by http,/,
  ],
  [{ SVC_OPS_HOST: '0.0.0.0' }, /^SVC_OPS_HOST lets other machines reach 0\.0\.0\.0:9090/],
  [{ SVC_DURABILITY: 'write' }, /^SVC_DURABILITY is write,/],
  [{ SVC_SESSION_TTL_SECONDS: '60' }, /^SVC_SESSION_TTL_SECONDS ends sessions after 60 s/],
  [{ SVC_LIMIT_ANALYTICS_PER_MINUTE: '501' }, /^SVC_LIMIT_ANALYTICS_PER_MINUTE is more than/],
  [{ SVC_MATCHER_THREADS: '5' }, /^SVC_MATCHER_THREADS asks for 5 threads; this machine has 4 cores/],
  [{ SVC_LOG_LEVEL: 'silent' }, /^SVC_LOG_LEVEL is silent,/],
] as const) {
  test(`${JSON.stringify(settings)} is a risk that is told once`, () => {
    const [risk, ...more] = risks(settings);
    assert.match(risk ?? '', told);
    assert.deepEqual(more, []);
  });
}
