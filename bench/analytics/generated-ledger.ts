import { dayMs } from '../../src/domain/calendar.ts';
import type { DeviceClass, LedgerRecord } from '../../src/events/ledger-record.ts';
import { subIdByteLength } from '../../src/sessions/sub-id.ts';

const dayCount = 200;
const firstLedgerDay = 20_400;
const otherTagCount = 1_000;
const lenderCount = 30;
const offerCount = 60;
/** How many sessions later a session is viewed, and clicked: so that a batch of the aggregator does not hold it whole. */
const viewDelaySessions = 3_000;
const clickDelaySessions = 6_000;

/**
 * A history of one account, spread evenly over 200 days: three in ten sessions have one large tag, the others one of a
 * thousand. One in four has a view of five offers, one in eight a click, one in two metadata.
 */
export class GeneratedLedger {
  readonly sessions: number;
  readonly firstDay = firstLedgerDay;
  readonly lastDay = firstLedgerDay + dayCount - 1;
  readonly largeTag = 'large-tag';

  constructor(sessions: number) {
    this.sessions = sessions;
  }

  *records(): Generator<LedgerRecord, void> {
    for (let serial = 0; serial < this.sessions + clickDelaySessions; serial++) {
      if (serial < this.sessions) yield this.#created(serial);
      const viewed = serial - viewDelaySessions;
      if (viewed >= 0 && viewed < this.sessions && viewed % 4 === 0) yield this.#viewed(viewed);
      const clicked = serial - clickDelaySessions;
      if (clicked >= 0 && clicked % 8 === 0) yield this.#clicked(clicked);
    }
  }

  /** Different sessions from anywhere in the history. */
  randomSubs(count: number): Uint8Array[] {
    const serials = new Set<number>();
    while (serials.size < Math.min(count, this.sessions)) serials.add(Math.floor(Math.random() * this.sessions));
    return [...serials].map((serial) => this.#sub(serial));
  }

  randomTag(): string {
    return `tag-${Math.floor(Math.random() * otherTagCount)}`;
  }

  #created(serial: number): LedgerRecord {
    const mixed = hashSerial(serial);
    const tag = mixed % 10 < 3 ? this.largeTag : `tag-${(mixed >>> 4) % otherTagCount}`;
    const metadata = serial % 2 === 0 ? `{"campaign":"spring","page":"landing-${mixed % 8}","bid":1.25}` : null;
    return [1, this.#createdMs(serial), this.#sub(serial), tag, 1, (mixed % 5) as DeviceClass, metadata];
  }

  #viewed(serial: number): LedgerRecord {
    const shown = Array.from({ length: 5 }, (_, at) => offerId(serial + at));
    return [2, this.#createdMs(serial) + 60_000, this.#sub(serial), 'catalog', shown];
  }

  #clicked(serial: number): LedgerRecord {
    const lender = `Lender ${(serial % offerCount) % lenderCount}`;
    return [3, this.#createdMs(serial) + 90_000, this.#sub(serial), 'catalog', offerId(serial), lender, 4_500_000];
  }

  #createdMs(serial: number): number {
    return firstLedgerDay * dayMs + Math.floor((serial / this.sessions) * dayCount * dayMs);
  }

  #sub(serial: number): Uint8Array {
    const bytes = Buffer.alloc(subIdByteLength);
    bytes.writeUIntBE(this.#createdMs(serial), 0, 6);
    bytes.writeUInt32BE(1, 8);
    bytes[12] = 2;
    bytes[13] = 1;
    for (let at = 14; at < subIdByteLength; at += 4) bytes.writeUInt32BE(hashSerial(serial + at), Math.min(at, subIdByteLength - 4));
    return bytes;
  }
}

function offerId(number: number): string {
  return `lender-offer-${number % offerCount}`;
}

/** A number that looks random and is always the same: the history need not be kept to be asked about. */
function hashSerial(serial: number): number {
  let mixed = Math.imul(serial ^ (serial >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
