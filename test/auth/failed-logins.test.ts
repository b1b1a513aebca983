import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientNetwork, FailedLogins } from '../../src/auth/failed-logins.ts';
import { bounds } from '../../src/bounds.ts';
import { ManualClock } from '../support/manual-clock.ts';

test('counts IPv4 addresses in full and IPv6 addresses by their first 64 bits', () => {
  for (const [address, network] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    // uWebSockets.js writes all groups in full.
    ['0000:0000:0000:0000:0000:ffff:c000:0201', '192.0.2.1'],
    ['::1', '0:0:0:0'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:DB8:0:0:ffff::', '2001:db8:0:0'],
    ['2001:0db8:0000:0000:0001:0002:0003:0004', '2001:db8:0:0'],
    ['2001:db8:0:1::1', '2001:db8:0:1'],
    ['', ''],
  ] as const) {
    assert.equal(clientNetwork(address), network, address);
  }
});

test('refuses failed logins of an address above the limit for a minute, and of no other address', () => {
  const clock = new ManualClock();
  const failedLogins = new FailedLogins(clock);
  for (let i = 0; i < bounds.consoleLoginFailuresPerMinute; i++) {
    assert.equal(failedLogins.countFailure(`2001:db8::${i + 1}`), 0);
    clock.advance(1_000);
  }
  assert.equal(failedLogins.countFailure('2001:db8::ffff'), 60 - bounds.consoleLoginFailuresPerMinute);
  assert.equal(failedLogins.countFailure('2001:db8:0:1::1'), 0);
  clock.advance(bounds.rateLimitWindowMs);
  assert.equal(failedLogins.countFailure('2001:db8::1'), 0);
});
