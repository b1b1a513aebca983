import Bowser from 'bowser';
import crawlerUserAgents from 'crawler-user-agents';
import { LRUCache } from 'lru-cache';
import { type DeviceClass, deviceClasses } from '../ledger/ledger-record.ts';

/** Bot patterns of the package `crawler-user-agents`. The type definitions of `crawler-user-agents` lack `tags`. */
const crawlers: readonly { readonly pattern: string; readonly tags?: readonly string[] }[] = crawlerUserAgents;

const metacharacter = /[.*+?^${}()|[\]\\]/;
const escapedMetacharacter = /\\([/.()+*?[\]{}|^$-])/g;

const { words: crawlerWords, expressions: crawlerExpressions } = splitPatterns();

/**
 * Recognizes bots that are not on the list of `crawler-user-agents`, by common words in the user agent. `Cubot` is excluded, because it is
 * a brand of phones.
 */
const genericBotWords = /crawler|spider|(?<!cu)bot(?![a-z])/i;

/**
 * Whether a user agent declares itself as a crawler, monitor or link preview (docs/contract.md#bots-and-prefetches). HTTP libraries do not
 * count as bots, because a program may click on behalf of a person.
 *
 * Nearly all of the 1,500 patterns of the list are plain words. Searching a user agent for plain words takes tens of microseconds, but
 * matching all patterns as one regular expression would take milliseconds. Only the patterns that are not plain words form a regular
 * expression.
 */
export function isSelfDeclaredBot(userAgent: string): boolean {
  for (const word of crawlerWords) {
    if (userAgent.includes(word)) return true;
  }
  return crawlerExpressions.test(userAgent) || genericBotWords.test(userAgent);
}

function splitPatterns(): { words: string[]; expressions: RegExp } {
  const words: string[] = [];
  const expressions: string[] = [];
  for (const { pattern, tags } of crawlers) {
    if (tags?.includes('http-library')) continue;
    // A pattern is a plain word if all its metacharacters are escaped.
    if (metacharacter.test(pattern.replaceAll(escapedMetacharacter, ''))) expressions.push(pattern);
    else words.push(pattern.replaceAll(escapedMetacharacter, '$1'));
  }
  return { words, expressions: new RegExp(expressions.join('|')) };
}

/** Classifies devices by user agent, and caches the results for common user agents (docs/contract.md#device-classes). */
export class DeviceClassifier {
  readonly #cache: LRUCache<string, DeviceClass>;

  constructor(cacheEntriesMax: number) {
    this.#cache = new LRUCache({ max: cacheEntriesMax });
  }

  /** Returns the device class of a user agent; `unknown` if the user agent is missing or empty (docs/contract.md#user-agent). */
  classifyDevice(userAgent: string | undefined): DeviceClass {
    if (userAgent === undefined || userAgent === '') return deviceIndex('unknown');
    let device = this.#cache.get(userAgent);
    if (device === undefined) {
      device = classifyUncached(userAgent);
      this.#cache.set(userAgent, device);
    }
    return device;
  }

  isBot(userAgent: string): boolean {
    return this.classifyDevice(userAgent) === deviceIndex('bot');
  }
}

function classifyUncached(userAgent: string): DeviceClass {
  if (isSelfDeclaredBot(userAgent)) return deviceIndex('bot');
  const platform = Bowser.getParser(userAgent, true).getPlatformType(true);
  // Bowser returns no platform type for ChromeOS, so this code treats ChromeOS devices as desktops.
  const fallback = userAgent.includes('CrOS') ? 'desktop' : 'unknown';
  return deviceIndex(deviceClasses.find((name) => name === platform) ?? fallback);
}

function deviceIndex(name: (typeof deviceClasses)[number]): DeviceClass {
  return deviceClasses.indexOf(name) as DeviceClass;
}
