import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { deviceClasses } from '../../src/ledger/ledger-record.ts';
import { DeviceClassifier } from '../../src/user-agents/device-classifier.ts';
import { browsers } from '../support/browsers.ts';

const classifier = new DeviceClassifier(100);

function classOf(userAgent: string | undefined): string {
  return deviceClasses[classifier.classify(userAgent)];
}

describe('DeviceClassifier', () => {
  for (const wanted of ['desktop', 'mobile', 'tablet']) {
    it(`recognizes the user agents of a ${wanted}`, () => {
      for (const { device, userAgent } of browsers) {
        if (device === wanted) assert.equal(classOf(userAgent), wanted, userAgent);
      }
    });
  }

  it('classifies a bot as a bot, whatever device its user agent contains', () => {
    const googlebot =
      'Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) Chrome/124.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1)';
    assert.equal(classOf(googlebot), 'bot');
    assert(classifier.isBot(googlebot));
  });

  it('returns unknown for an unrecognized, empty or absent user agent', () => {
    for (const userAgent of [
      'gibberish',
      'curl/8.5.0',
      'Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) Version/6.0',
      '',
      ' ',
    ]) {
      assert.equal(classOf(userAgent), 'unknown');
      assert(!classifier.isBot(userAgent));
    }
    assert.equal(classOf(undefined), 'unknown');
  });

  it('returns the same class for a repeated user agent, cached or not', () => {
    const forgetful = new DeviceClassifier(1);
    for (let round = 0; round < 3; round++) {
      for (const { device, userAgent } of browsers) {
        assert.equal(deviceClasses[forgetful.classify(userAgent)], device);
        assert.equal(deviceClasses[forgetful.classify(userAgent)], device);
      }
    }
  });

  it('does not throw for any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 1_024 }), (text) => void classifier.classify(text)));
  });
});
