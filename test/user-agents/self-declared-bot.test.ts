import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import crawlers from 'crawler-user-agents';
import fc from 'fast-check';
import { isSelfDeclaredBot } from '../../src/user-agents/device-classifier.ts';
import { browsers } from '../support/browsers.ts';

const bots = {
  crawler: [
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)',
    'Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)',
    'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)',
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.0; +https://openai.com/gptbot)',
    'AdsBot-Google (+http://www.google.com/adsbot.html)',
    'DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)',
  ],
  monitor: [
    'Mozilla/5.0 (compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)',
    'Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)',
    'Better Uptime Bot Mozilla/5.0',
    'check_http/v2.2 (monitoring-plugins 2.2)',
  ],
  'link preview': [
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'Twitterbot/1.0',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'WhatsApp/2.23.20.0',
    'TelegramBot (like TwitterBot)',
    'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
    'LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)',
    'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5',
  ],
  'robot on no list': ['ExampleBot/1.0 (+https://example.com/bot)', 'acme-crawler/0.3', 'Our Spider 2', 'price_bot'],
};

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
  for (const [kind, userAgents] of Object.entries(bots)) {
    it(`recognizes a ${kind} as a bot`, () => {
      for (const userAgent of userAgents) assert(isSelfDeclaredBot(userAgent), userAgent);
    });
  }

  it('recognizes every example of the published list, except HTTP libraries', () => {
    const examples = (crawlers as { instances: string[]; tags?: string[] }[])
      .filter(({ tags }) => !tags?.includes('http-library'))
      .flatMap(({ instances }) => instances);
    assert(examples.length > 1_000);
    for (const userAgent of examples) assert(isSelfDeclaredBot(userAgent), userAgent);
  });

  it('does not recognize an HTTP library as a bot', () => {
    for (const userAgent of httpLibraries) assert(!isSelfDeclaredBot(userAgent), userAgent);
  });

  it('does not recognize a browser as a bot', () => {
    for (const { userAgent } of browsers) assert(!isSelfDeclaredBot(userAgent), userAgent);
  });

  it('does not recognize an empty user agent as a bot', () => assert(!isSelfDeclaredBot('')));

  it('does not throw for any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 1_024 }), (text) => void isSelfDeclaredBot(text)));
  });
});
