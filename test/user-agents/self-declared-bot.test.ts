import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { listedExamples, readMeasuredBrowsers, readOwnUserAgents } from '../../bench/user-agents/corpora.ts';
import { formatErrorRates } from '../../bench/user-agents/error-rates.ts';
import { isSelfDeclaredBot } from '../../src/user-agents/self-declared-bot.ts';
import { browsers } from '../support/browsers.ts';

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
  'Dalvik/2.1.0 (Linux; U; Android 13; SM-S908U Build/TP1A)',
  'MyApp/1 CFNetwork/1410.0.3 Darwin/22.6.0',
  'Amazon CloudFront',
];

/** Bots whose names also occur in the user agents of people. */
const ambiguousBots = [
  /Windows NT 6\.1; WOW64; https:\/\/top\.mail\.ru/,
  /Build\/AP3A\.240617\.008; wv.+Instagram/,
  /MetaIAB Facebook$/,
  /(?:Code|Trae)\/1\.\d+\.\d /,
  /Fluid\/0\.9\.6/,
  /MSIE 7\.0; Windows NT\) NewsNow/,
  /ExampleMonitor/,
];

describe('isSelfDeclaredBot', () => {
  it('recognizes link previews, monitors, health checkers, crawlers and automated browsers', () => {
    const bots = [...readOwnUserAgents('machines.txt'), ...listedExamples('bots')];
    assert(bots.length > 2_000);
    const missed = bots.filter((userAgent) => !isSelfDeclaredBot(userAgent));
    const unexpected = missed.filter((userAgent) => !ambiguousBots.some((pattern) => pattern.test(userAgent)));
    assert.deepEqual(unexpected, []);
    for (const pattern of ambiguousBots)
      assert(
        missed.some((userAgent) => pattern.test(userAgent)),
        `${pattern}`,
      );
  });

  it('does not recognize browsers, browsers in apps, HTTP libraries or an empty user agent as bots', () => {
    const people = [
      ...browsers.map(({ userAgent }) => userAgent),
      ...readMeasuredBrowsers().map(({ userAgent }) => userAgent),
      ...readOwnUserAgents('people.txt'),
      ...httpLibraries,
      '',
    ];
    for (const userAgent of people) assert(!isSelfDeclaredBot(userAgent), userAgent);
  });

  it('recognizes the name of a chat program as a link preview only outside the user agent of a browser', () => {
    const phone =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148';
    for (const name of ['WhatsApp/2.23', 'Viber/23.1.0', 'Mastodon/4.3', 'Bluesky/1.83', 'Tumblr/34.3', 'Notion/3.5']) {
      assert(isSelfDeclaredBot(name), name);
      assert(!isSelfDeclaredBot(`${phone} ${name}`), name);
      assert(isSelfDeclaredBot(`${phone} ${name} (compatible; ${name}; +https://example.com/preview)`), name);
    }
  });
});

it('the published error rates are the computed error rates', () => {
  const page = readFileSync(new URL('../../docs/contributing/decisions/user-agents.md', import.meta.url), 'utf8');
  assert(page.includes(formatErrorRates()), formatErrorRates());
});
