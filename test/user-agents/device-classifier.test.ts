import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readMeasuredBrowsers, readOwnUserAgents } from '../../bench/user-agents/corpora.ts';
import { deviceClasses } from '../../src/ledger/ledger-record.ts';
import { DeviceClassifier } from '../../src/user-agents/device-classifier.ts';
import { browsers } from '../support/browsers.ts';

const classifier = new DeviceClassifier(100);

function classOf(userAgent: string | undefined): string {
  return deviceClasses[classifier.classifyDevice(userAgent)];
}

describe('DeviceClassifier', () => {
  it('classifies a bot as a bot even if the user agent names a device', () => {
    const googlebot =
      'Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) Chrome/124.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1)';
    assert.equal(classOf(googlebot), 'bot');
    assert(classifier.isBot(googlebot));
  });

  it('returns the device class unknown for an unrecognized, empty or absent user agent', () => {
    const television = 'Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) Version/6.0';
    for (const userAgent of ['gibberish', 'curl/8.5.0', television, '', ' ']) {
      assert.equal(classOf(userAgent), 'unknown');
      assert(!classifier.isBot(userAgent));
    }
    assert.equal(classOf(undefined), 'unknown');
  });

  it('returns the measured device class of 952 common browsers', () => {
    for (const { userAgent, deviceCategory } of readMeasuredBrowsers()) {
      assert.equal(classOf(userAgent), deviceCategory, userAgent);
    }
  });

  it('returns a device class of people for browsers in apps', () => {
    for (const userAgent of readOwnUserAgents('people.txt')) {
      assert(['desktop', 'mobile', 'tablet'].includes(classOf(userAgent)), `${classOf(userAgent)}: ${userAgent}`);
    }
  });

  it('returns the device class of unusual devices', () => {
    const devices = {
      desktop: ['Mozilla/5.0 (X11; FreeBSD amd64; rv:8.0) Gecko/20100101 Firefox/8.0'],
      mobile: ['Opera/9.80 (BlackBerry; Opera Mini/6.5.27548/26.1305; U; ja) Presto/2.8.119 Version/10.54'],
      tablet: [
        'Mozilla/5.0 (Linux; Android 10; HUAWEI BAH3-W59) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.0.0',
      ],
      unknown: [
        'Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/94.0.4606.128 Safari/537.36',
      ],
    };
    for (const [device, userAgents] of Object.entries(devices)) {
      for (const userAgent of userAgents) assert.equal(classOf(userAgent), device, userAgent);
    }
  });

  it('does not throw for any user agent', () => {
    const userAgent = fc.string({ unit: 'binary', maxLength: 1_024 });
    fc.assert(fc.property(userAgent, (text) => void classifier.classifyDevice(text)));
  });

  it('returns the same device class for a repeated user agent, with or without a cached result', () => {
    const forgetful = new DeviceClassifier(1);
    for (let round = 0; round < 3; round++) {
      for (const { device, userAgent } of browsers) {
        assert.equal(deviceClasses[forgetful.classifyDevice(userAgent)], device);
        assert.equal(deviceClasses[forgetful.classifyDevice(userAgent)], device);
      }
    }
  });
});
