import { LRUCache } from 'lru-cache';
import { type DeviceClass, deviceClasses } from '../ledger/ledger-record.ts';
import { isSelfDeclaredBot } from './self-declared-bot.ts';

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
      device = deviceIndex(isSelfDeclaredBot(userAgent) ? 'bot' : findDeviceName(userAgent));
      this.#cache.set(userAgent, device);
    }
    return device;
  }

  isBot(userAgent: string): boolean {
    return this.classifyDevice(userAgent) === deviceIndex('bot');
  }
}

const television = /smart-?tv|hbbtv|netcast/i;
const tablet = /ipad|tablet(?! pc)|silk|kindle|playbook/i;
const phone = /mobi|iphone|ipod|opera mini|blackberry|bb10|nokia|symbian|midp|windows phone/i;
const desktop = /windows|macintosh|mac os|linux|x11|\bcros\b/i;

/** Returns the device class that the user agent of a person names. An Android device without a word for phones is a tablet. */
function findDeviceName(userAgent: string): (typeof deviceClasses)[number] {
  if (television.test(userAgent)) return 'unknown';
  if (tablet.test(userAgent)) return 'tablet';
  if (phone.test(userAgent)) return 'mobile';
  if (/android/i.test(userAgent)) return 'tablet';
  return desktop.test(userAgent) ? 'desktop' : 'unknown';
}

function deviceIndex(name: (typeof deviceClasses)[number]): DeviceClass {
  return deviceClasses.indexOf(name) as DeviceClass;
}
