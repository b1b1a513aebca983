import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { KeyedRateLimit } from './keyed-rate-limit.ts';

/**
 * Counts failed logins by client address, so that wrong keys and tokens get 429 after some attempts. Does not limit logins with a valid
 * key or token, because several people can share an address, for example behind a proxy. The limit need not stop the guessing of API keys,
 * which have 192 random bits.
 */
export class FailedLogins {
  readonly #clock: Clock;
  readonly #attempts = new KeyedRateLimit(bounds.consoleLoginFailuresPerMinute, bounds.consoleFailingAddressesMax);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a failed login. Returns 0, or the number of seconds to wait if the address has used up its attempts. */
  countFailure(address: string): number {
    return Math.ceil(this.#attempts.countRequest(clientNetwork(address), this.#clock.monotonicMs()) / 1000);
  }
}

/**
 * Returns the first 64 bits of an IPv6 address, because one client usually has all addresses with the same first 64 bits. Returns an IPv4
 * address in full, also if it is written as an IPv6 address such as `::ffff:192.0.2.1`.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const [start = '', end] = address.toLowerCase().split('::');
  const first = start === '' ? [] : start.split(':');
  const last = end === undefined || end === '' ? [] : end.split(':');
  const ipv4 = last.at(-1);
  if (ipv4?.includes('.')) return ipv4;
  const zeros = end === undefined ? 0 : 8 - first.length - last.length;
  const groups = [...first, ...Array<string>(zeros).fill('0'), ...last].map((group) => Number.parseInt(group, 16));
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [high = 0, low = 0] = groups.slice(6);
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':');
}
