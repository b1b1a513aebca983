import Bowser from 'bowser';
import { LRUCache } from 'lru-cache';
import { type DeviceClass, deviceClasses } from '../events/ledger-record.ts';
import { isSelfDeclaredBot } from './self-declared-bot.ts';

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
