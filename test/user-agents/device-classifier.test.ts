import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import crawlers from 'crawler-user-agents';
import fc from 'fast-check';
import { deviceClasses } from '../../src/ledger/ledger-record.ts';
import { DeviceClassifier, isSelfDeclaredBot } from '../../src/user-agents/device-classifier.ts';
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

/** Bots that are not on the published list. The list contains example user agents of bots, monitors and link previews. */
const unlistedBots = ['ExampleBot/1.0 (+https://example.com/bot)', 'acme-crawler/0.3', 'Our Spider 2', 'price_bot'];

const httpLibraries = [
  'curl/8.5.0',
  'Wget/1.21.4',
  'python-requests/2.31.0',
  'Python-urllib/3.11',
  'Python/3.11 aiohttp/3.9.1',
  'python-httpx/0.25.2',
  'axios/1.6.2',
  'okhttp/4.12.0',
  'Go-http-client/2.0',
  'Java/17.0.1',
  'Apache-HttpClient/4.5.13 (Java/11.0.16)',
  'libwww-perl/6.67',
  'node-fetch/1.0 (+https://github.com/bitinn/node-fetch)',
  'got (https://github.com/sindresorhus/got)',
  'node',
  'PostmanRuntime/7.36.0',
  'GuzzleHttp/7',
  'HTTPie/3.2.2',
  'Dalvik/2.1.0 (Linux; U; Android 13; SM-S908B Build/TP1A)',
  'MyApp/1 CFNetwork/1410.0.3 Darwin/22.6.0',
];

describe('isSelfDeclaredBot', () => {
  it('recognizes all bots of the published list except HTTP libraries, and also bots that are not on the list', () => {
    const examples = (crawlers as { instances: string[]; tags?: string[] }[])
      .filter(({ tags }) => !tags?.includes('http-library'))
      .flatMap(({ instances }) => instances);
    assert(examples.length > 1_000);
    for (const userAgent of [...examples, ...unlistedBots]) assert(isSelfDeclaredBot(userAgent), userAgent);
  });

  it('does not recognize an HTTP library, a browser or an empty user agent as a bot', () => {
    for (const userAgent of [...httpLibraries, ...browsers.map((browser) => browser.userAgent), '']) {
      assert(!isSelfDeclaredBot(userAgent), userAgent);
    }
  });

  it('isSelfDeclaredBot and classify do not throw for any user agent', () => {
    const userAgent = fc.string({ unit: 'binary', maxLength: 1_024 });
    fc.assert(fc.property(userAgent, (text) => void [isSelfDeclaredBot(text), classifier.classifyDevice(text)]));
  });
});
