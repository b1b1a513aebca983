import Bowser from 'bowser';
import crawlerUserAgents from 'crawler-user-agents';
import { LRUCache } from 'lru-cache';
import { type DeviceClass, deviceClasses } from '../ledger/ledger-record.ts';

/** The published list; its typings leave out the tags that its data carries. */
const crawlers: readonly { readonly pattern: string; readonly tags?: readonly string[] }[] = crawlerUserAgents;

const metacharacter = /[.*+?^${}()|[\]\\]/;
const escapedMetacharacter = /\\([/.()+*?[\]{}|^$-])/g;

const { words: crawlerWords, expressions: crawlerExpressions } = splitPatterns();

/** What a robot that is on no list calls itself. Cubot makes telephones. */
const genericBotWords = /crawler|spider|(?<!cu)bot(?![a-z])/i;

/**
 * True for a self-declared crawler, monitor or link preview (docs/contract.md#bots-and-prefetches). HTTP libraries are
 * not bots here, and neither is an absent user agent: a program may well click for a person.
 *
 * The published list has 1,500 patterns, nearly all of them plain words. As one regular expression they take
 * milliseconds for one user agent, as words tens of microseconds, so the few real expressions are kept apart.
 */
export function isSelfDeclaredBot(userAgent: string): boolean {
  for (const word of crawlerWords) {
    if (userAgent.includes(word)) return true;
  }
  return crawlerExpressions.test(userAgent) || genericBotWords.test(userAgent);
}

function splitPatterns(): { words: string[]; expressions: RegExp } {
  const words: string[] = [];
  const rest: string[] = [];
  for (const { pattern, tags } of crawlers) {
    if (tags?.includes('http-library')) continue;
    // Whether metacharacters remain once the escaped ones are taken out tells a word from an expression.
    if (metacharacter.test(pattern.replaceAll(escapedMetacharacter, ''))) rest.push(pattern);
    else words.push(pattern.replaceAll(escapedMetacharacter, '$1'));
  }
  return { words, expressions: new RegExp(rest.join('|')) };
}

/** Classifies devices (docs/contract.md#device-classes) and caches recent user agents: page loads repeat a few thousand of them. */
export class DeviceClassifier {
  readonly #cache: LRUCache<string, DeviceClass>;

  constructor(rememberedMax: number) {
    this.#cache = new LRUCache({ max: rememberedMax });
  }

  /** `undefined` when the caller gave no user agent: nothing is inferred then (docs/contract.md#user-agent). */
  classify(userAgent: string | undefined): DeviceClass {
    if (userAgent === undefined || userAgent === '') return deviceIndex('unknown');
    let known = this.#cache.get(userAgent);
    if (known === undefined) {
      known = classifyUncached(userAgent);
      this.#cache.set(userAgent, known);
    }
    return known;
  }

  isBot(userAgent: string): boolean {
    return this.classify(userAgent) === deviceIndex('bot');
  }
}

function classifyUncached(userAgent: string): DeviceClass {
  if (isSelfDeclaredBot(userAgent)) return deviceIndex('bot');
  switch (Bowser.getParser(userAgent, true).getPlatformType(true)) {
    case 'desktop':
      return deviceIndex('desktop');
    case 'mobile':
      return deviceIndex('mobile');
    case 'tablet':
      return deviceIndex('tablet');
    case 'bot':
      return deviceIndex('bot');
    default:
      // The library knows the system, but not that it runs on laptops.
      return deviceIndex(userAgent.includes('CrOS') ? 'desktop' : 'unknown');
  }
}

function deviceIndex(name: (typeof deviceClasses)[number]): DeviceClass {
  return deviceClasses.indexOf(name) as DeviceClass;
}
