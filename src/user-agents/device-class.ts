import Bowser from 'bowser';
import { LRUCache } from 'lru-cache';
import { type DeviceClass, deviceClasses } from '../events/ledger-record.ts';
import { isSelfDeclaredBot } from './self-declared-bot.ts';

/** Classifies devices (docs/contract.md#device-classes) and caches recent user agents: page loads repeat a few thousand of them. */
export class DeviceClassifier {
  readonly #known: LRUCache<string, DeviceClass>;

  constructor(rememberedMax: number) {
    this.#known = new LRUCache({ max: rememberedMax });
  }

  /** `undefined` when the caller gave no user agent: nothing is inferred then (docs/contract.md#user-agent). */
  classify(userAgent: string | undefined): DeviceClass {
    if (userAgent === undefined || userAgent === '') return device('unknown');
    let known = this.#known.get(userAgent);
    if (known === undefined) {
      known = classify(userAgent);
      this.#known.set(userAgent, known);
    }
    return known;
  }

  isBot(userAgent: string): boolean {
    return this.classify(userAgent) === device('bot');
  }
}

function classify(userAgent: string): DeviceClass {
  if (isSelfDeclaredBot(userAgent)) return device('bot');
  switch (Bowser.getParser(userAgent, true).getPlatformType(true)) {
    case 'desktop':
      return device('desktop');
    case 'mobile':
      return device('mobile');
    case 'tablet':
      return device('tablet');
    case 'bot':
      return device('bot');
    default:
      // The library knows the system, but not that it runs on laptops.
      return device(userAgent.includes('CrOS') ? 'desktop' : 'unknown');
  }
}

function device(name: (typeof deviceClasses)[number]): DeviceClass {
  return deviceClasses.indexOf(name) as DeviceClass;
}
