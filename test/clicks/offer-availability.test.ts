import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import type { ReplacedCatalog } from '../../src/catalogs/catalog-store.ts';
import { type CompiledCatalog, compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import {
  type BookedRevenueSnapshot,
  decodeSnapshot,
  encodeSnapshot,
} from '../../src/clicks/booked-revenue-snapshot.ts';
import { toClickRecordItems } from '../../src/clicks/click-decision.ts';
import { OfferAvailability } from '../../src/clicks/offer-availability.ts';
import { daysSinceEpoch, msPerDay } from '../../src/domain/calendar.ts';
import type { ApiKeyMode } from '../../src/domain/mode.ts';
import type { LedgerRecord, OfferClickedRecord } from '../../src/ledger/ledger-record.ts';
import { allOffersAvailable } from '../../src/matching/matcher.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { catalogOf, plainOffer } from '../matching/loan-fixtures.ts';
import {
  offerClickedRecord,
  offersViewedRecord,
  revenueConfirmedRecord,
  subIdBytes,
  widgetEventsRecord,
  widgetViewedRecord,
} from '../support/ledger-records.ts';

const hourMs = 60 * 60 * 1000;
const noon = Date.UTC(2026, 4, 20, 12);
const ids = ['a', 'b', 'c'];

/** Daily cap of each offer by id: null for no cap, `gone` for an offer that is not in the catalog. */
type Caps = Readonly<Record<string, number | null | 'gone'>>;

function catalogWith(caps: Caps, mode: ApiKeyMode = 'live'): CompiledCatalog {
  const offers = ids.flatMap((id) => {
    const cap = caps[id] ?? null;
    return cap === 'gone' ? [] : [plainOffer({ id, ...(cap === null ? {} : { daily_cap: cap }) })];
  });
  return compileCatalog(catalogOf(offers), builtInVerticals.withProduct(personalLoans), { mode });
}

/** Runs the availability of offers like the service: appends every record to the ledger, then applies the record. */
class Bench {
  catalog: CompiledCatalog;
  caps: OfferAvailability;
  nowMs = noon;
  /** Last snapshot, encoded as in the file. */
  snapshot: string | null = null;
  readonly ledger: LedgerRecord[] = [];
  /** Replaced catalogs by version, as `CatalogStore` stores them. */
  readonly #replaced = new Map<string, ReplacedCatalog>();
  #serial = 0;

  constructor(caps: Caps, mode: ApiKeyMode = 'live') {
    this.catalog = catalogWith(caps, mode);
    this.caps = new OfferAvailability(this.nowMs);
    this.caps.activateCatalog(this.catalog, this.nowMs);
  }

  /** Creates a session with a view of these offers. Returns its sub_id. */
  shown(offers: readonly string[] = ids, mode: ApiKeyMode = 'live'): Buffer {
    const sub = subIdBytes({ createdMs: this.nowMs, serial: ++this.#serial, mode });
    this.append(offersViewedRecord(sub, offers, this.nowMs));
    return sub;
  }

  append(record: LedgerRecord): void {
    this.ledger.push(record);
    this.caps.applyLedgerRecord(record, this.ledger.length);
  }

  /** Records a click like the click operation. Returns whether the click is within the daily cap. */
  click(sub: Buffer, offer = 'a', taken = true): boolean | null | undefined {
    const decision = this.caps.decideClick(sub, offer, this.nowMs, 1_000_000);
    const click = offerClickedRecord(sub, offer, { wallMs: this.nowMs });
    if (taken) this.append([...click, ...toClickRecordItems(decision)] as unknown as OfferClickedRecord);
    return decision.isBooked;
  }

  closed(): string[] {
    const { bits, count } = this.caps.unavailableOffers(this.catalog, this.nowMs);
    const closed = this.catalog.offers.flatMap(({ id }, at) => ((bits?.[0] ?? 0) & (1 << at) ? [id] : []));
    assert.equal(closed.length, count);
    return closed;
  }

  saveSnapshot(): void {
    if (this.ledger.length > 0) this.snapshot = encodeSnapshot(this.caps.takeSnapshot(this.nowMs));
  }

  /**
   * Simulates a restart: keeps only the snapshot and the ledger, without the last `lost` records, which were not yet durable. A snapshot is
   * written only if its records are durable.
   */
  restart(caps: Caps | null = null, lost = 0): void {
    this.ledger.splice(this.ledger.length - lost);
    const snapshot: BookedRevenueSnapshot | null = this.snapshot === null ? null : decodeSnapshot(this.snapshot);
    if (snapshot !== null && snapshot.lastRecord.position > this.ledger.length) this.snapshot = null;
    if (caps !== null) this.#replace(catalogWith(caps));
    this.caps = new OfferAvailability(this.nowMs, { snapshot: this.snapshot === null ? null : snapshot });
    const replaced = [...this.#replaced.values()];
    this.caps.restoreCatalogs(
      this.catalog,
      replaced.filter(({ replacedMs }) => this.nowMs - replacedMs < bounds.replacedCatalogRetentionMs),
    );
    for (const [index, record] of this.ledger.entries()) {
      if (record[1] < this.caps.replayStartTimeMs && index + 1 < this.caps.replayStartPosition) continue;
      this.caps.applyLedgerRecord(record, index + 1);
    }
    assert.equal(this.caps.isConsistentWithLedger, true);
  }

  async reload(caps: Caps, during = () => {}): Promise<void> {
    const catalog = catalogWith(caps);
    if (catalog.version === this.catalog.version) return;
    await this.caps.loadPastClicks(catalog, this.nowMs, async (sinceMs, visit) => {
      const history = [...this.ledger];
      during();
      for (const [index, record] of history.entries()) if (record[1] >= sinceMs) visit(record, index + 1);
    });
    this.#replace(catalog);
    this.caps.activateCatalog(catalog, this.nowMs);
  }

  #replace(catalog: CompiledCatalog): void {
    const old = this.catalog;
    if (catalog.version === old.version) return;
    this.#replaced.delete(catalog.version);
    this.#replaced.set(old.version, { compiled: old, replacedMs: this.nowMs });
    this.catalog = catalog;
  }
}

describe('daily caps', () => {
  it('counts clicks up to the cap, then makes the offer unavailable', () => {
    const bench = new Bench({ a: 2, b: 1 });
    const subs = [1, 2, 3].map(() => bench.shown());
    assert.deepEqual(bench.closed(), []);
    assert.equal(bench.click(subs[0]!), true);
    assert.deepEqual(bench.closed(), []);
    assert.equal(bench.click(subs[1]!), true);
    assert.deepEqual(bench.closed(), ['a']);
    assert.equal(bench.click(subs[2]!), false);
    assert.deepEqual(bench.caps.decideClick(bench.shown(['b']), 'a', bench.nowMs, 1), {
      hasValue: false,
      isBooked: null,
      unbookedReason: null,
    });
    assert.equal(bench.click(subs[0]!, 'b'), true);
    assert.deepEqual(bench.closed(), ['a', 'b']);
    assert.equal(bench.caps.countUnavailableOffers('daily_cap', bench.nowMs), 2);
    assert.equal(bench.click(subs[0]!, 'c'), undefined);
  });

  it('unavailableOffers returns a new object only when the set of unavailable offers changes', () => {
    const bench = new Bench({ a: 1, b: 2 });
    const closed = () => bench.caps.unavailableOffers(bench.catalog, bench.nowMs);
    assert.equal(closed(), allOffersAvailable);
    bench.click(bench.shown(), 'b');
    assert.equal(closed(), allOffersAvailable);
    bench.click(bench.shown(), 'a');
    const first = closed();
    assert.notEqual(first, allOffersAvailable);
    bench.click(bench.shown(), 'c');
    assert.equal(closed(), first);
    bench.click(bench.shown(), 'b');
    assert.notEqual(closed(), first);
    bench.nowMs += msPerDay;
    assert.equal(closed(), allOffersAvailable);
  });

  it('counts clicks on offers that a widget fetched again, but not the offer_click events that widgets send', () => {
    const bench = new Bench({ a: 1, b: 1 });
    const sub = bench.shown(['c']);
    bench.append(widgetViewedRecord(sub, ['a'], { wallMs: bench.nowMs }));
    bench.append(widgetViewedRecord(sub, ['b'], { again: true, wallMs: bench.nowMs }));
    bench.append(widgetEventsRecord(sub, ['offer_click'], { offerId: 'a', wallMs: bench.nowMs }));
    assert.deepEqual(bench.closed(), []);
    bench.restart();
    assert.deepEqual(bench.closed(), []);
    assert.equal(bench.click(sub, 'b'), true);
    assert.equal(bench.click(sub, 'a'), true);
    bench.restart();
    assert.deepEqual(bench.closed(), ['a', 'b']);
    assert.equal(bench.click(sub, 'b'), null);
  });

  it('a daily cap resets at UTC midnight, and repeated clicks of a session on an offer do not count towards the new day', () => {
    const bench = new Bench({ a: 1 });
    bench.nowMs = noon + 12 * hourMs - 1;
    const [booked, refused] = [bench.shown(), bench.shown()];
    bench.click(booked);
    assert.equal(bench.click(refused), false);
    assert.deepEqual(bench.closed(), ['a']);
    bench.nowMs++;
    assert.deepEqual(bench.closed(), []);
    assert.deepEqual([bench.click(booked), bench.click(refused)], [null, null]);
    assert.deepEqual(bench.closed(), []);
    // The clock is set back to before midnight. The clicks of the previous day still count.
    bench.nowMs--;
    assert.deepEqual(bench.closed(), ['a']);
    assert.equal(bench.click(bench.shown()), false);
    bench.nowMs++;
    assert.equal(bench.click(bench.shown()), true);
  });

  it('counts sandbox clicks separately from live clicks', () => {
    const bench = new Bench({ a: 1 });
    const sandbox = catalogWith({ a: 1 }, 'test');
    bench.caps.activateCatalog(sandbox, bench.nowMs);
    bench.click(bench.shown(ids, 'test'));
    assert.deepEqual(bench.closed(), []);
    assert.equal(bench.caps.unavailableOffers(sandbox, bench.nowMs).count, 1);
    assert.equal(bench.click(bench.shown()), true);
    assert.equal(bench.caps.countUnavailableOffers('daily_cap', bench.nowMs), 2);
  });

  it('offers without limits are always available, and clicks on these offers need no decision', () => {
    const bench = new Bench({});
    assert.equal(bench.click(bench.shown()), undefined);
    assert.equal(bench.caps.unavailableOffers(bench.catalog, bench.nowMs), allOffersAvailable);
  });

  it('a lost click that a confirmation restores does not count towards the daily cap', () => {
    const bench = new Bench({ a: 1 });
    const sub = bench.shown();
    bench.append(revenueConfirmedRecord(sub, 'a', { click: { clickedMs: bench.nowMs, valueMicros: 1 } }));
    assert.deepEqual(bench.closed(), []);
    assert.equal(bench.click(sub), null);
    assert.equal(bench.click(bench.shown()), true);
    const open = bench.shown();
    bench.nowMs += msPerDay / 2;
    bench.append(revenueConfirmedRecord(open, 'a'));
    assert.equal(bench.click(open), true);
  });

  it('the last daily cap of a removed offer still limits clicks on existing links to the offer', async () => {
    const bench = new Bench({ a: 9 });
    const subs = Array.from({ length: 4 }, () => bench.shown());
    bench.click(subs[0]!);
    bench.nowMs++;
    await bench.reload({ a: 2 });
    bench.nowMs++;
    await bench.reload({ a: 'gone' });
    bench.restart();
    assert.deepEqual(bench.closed(), []);
    assert.deepEqual(
      subs.map((sub) => bench.click(sub)),
      [null, true, false, false],
    );
    assert.equal(bench.caps.decideClick(subs[3]!, 'a', bench.nowMs, 1).hasValue, false);
    bench.nowMs++;
    await bench.reload({ a: 'gone', b: 1 });
    bench.restart();
    assert.equal(bench.caps.decideClick(subs[3]!, 'a', bench.nowMs, 1).hasValue, false);
    assert.deepEqual(bench.closed(), []);
  });

  it('the limits of a removed offer end when the links to the offer expire', async () => {
    const bench = new Bench({ a: 1, b: 1 });
    const sub = bench.shown();
    bench.click(sub);
    await bench.reload({ a: 'gone', b: 'gone' });
    bench.nowMs += hourMs;
    await bench.reload({ a: 'gone', b: 2 });
    await bench.reload({ a: 'gone', b: 'gone' });
    // An intermediate change does not extend the lifetime of the links.
    bench.nowMs += bounds.replacedCatalogRetentionMs - hourMs - 1;
    bench.caps.activateCatalog(bench.catalog, bench.nowMs);
    assert.equal(bench.click(bench.shown()), true);
    bench.nowMs++;
    bench.caps.activateCatalog(bench.catalog, bench.nowMs);
    assert.equal(bench.click(bench.shown()), undefined);
  });

  it('a click on a removed offer does not change the result of unavailableOffers', async () => {
    const bench = new Bench({ a: 1, b: 1 });
    const sub = bench.shown();
    bench.click(sub, 'b');
    await bench.reload({ a: 'gone', b: 1 });
    const closed = bench.caps.unavailableOffers(bench.catalog, bench.nowMs);
    assert.equal(bench.click(sub, 'a'), true);
    assert.equal(bench.caps.unavailableOffers(bench.catalog, bench.nowMs), closed);
  });

  it('a new daily cap counts all clicks of the day, including clicks during the catalog reload', async () => {
    const bench = new Bench({});
    const subs = Array.from({ length: 4 }, () => bench.shown());
    assert.equal(bench.click(subs[0]!), undefined);
    bench.click(subs[0]!);
    await bench.reload({ a: 3 }, () => {
      bench.click(subs[0]!);
      bench.click(subs[1]!);
      const late = bench.shown();
      bench.click(late);
      // The caller reuses its buffer immediately.
      late.fill(0);
    });
    assert.deepEqual(bench.closed(), ['a']);
    assert.deepEqual([bench.click(subs[1]!), bench.click(subs[2]!)], [null, false]);
  });

  it('keeps the current daily caps and click counts if the ledger cannot be read', async () => {
    const bench = new Bench({ a: 1 });
    bench.click(bench.shown());
    const next = catalogWith({ a: 1, b: 1 });
    await assert.rejects(bench.caps.loadPastClicks(next, bench.nowMs, () => Promise.reject(new Error('no'))));
    assert.deepEqual(bench.closed(), ['a']);
    assert.equal(bench.click(bench.shown(), 'b'), undefined);
    await bench.reload({ a: 1, b: 1 });
    assert.deepEqual(bench.closed(), ['a', 'b']);
  });

  it('counts the first click of a session even if the session-offer pairs were evicted from memory', () => {
    const bench = new Bench({ a: 2 });
    bench.caps = new OfferAvailability(bench.nowMs, { pairsMax: 2 });
    bench.caps.activateCatalog(bench.catalog, bench.nowMs);
    const subs = Array.from({ length: 4 }, () => bench.shown(['a']));
    assert.deepEqual(
      subs.map((sub) => bench.click(sub)),
      [true, true, false, false],
    );
  });
});

const anyCaps = fc.record({
  a: fc.constantFrom(null, 'gone' as const, 1, 2, 3),
  b: fc.constantFrom(null, 'gone' as const, 1, 2),
});
const session = fc.nat(9);
const click = { session, offer: fc.constantFrom(...ids), taken: fc.constantFrom(true, true, true, false) };
const kind = <Kind extends string>(name: Kind) => fc.constant(name);
/** Generates random events for an offer and a session. The first event of a session creates the session. */
const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: kind('view'), session, offers: fc.subarray(ids) }) },
  { weight: 8, arbitrary: fc.record({ kind: kind('click'), ...click }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('wait'), hours: fc.constantFrom(0.5, 3, 11, 25) }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('restart'), lost: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('snapshot') }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('reload'), caps: anyCaps }) },
);

/** Counts clicks by offer and day with a simple implementation of docs/contract.md#counting-clicks over the whole ledger. */
function bookedByDay(ledger: readonly LedgerRecord[]): Map<string, number> {
  const [shown, clicked, booked] = [new Set<string>(), new Set<string>(), new Map<string, number>()];
  for (const record of ledger) {
    const session = Buffer.from(record[2]).toString('hex');
    if (record[0] === 2) for (const offer of record[4]) shown.add(`${session} ${offer}`);
    if (record[0] !== 3) continue;
    const [, wallMs, sub, , offer, , , within] = record;
    const pair = `${session} ${offer}`;
    const late = wallMs - Buffer.from(sub).readUIntBE(0, 6) > bounds.clickAttributionMs;
    if (late || !shown.has(pair) || clicked.has(pair)) continue;
    clicked.add(pair);
    const day = `${offer} ${daysSinceEpoch(wallMs)}`;
    if (within !== false) booked.set(day, (booked.get(day) ?? 0) + 1);
  }
  return booked;
}

/** An offer gets its first limit after the snapshot. The clicks of the day include one of an older session that did not get the offer. */
const firstLimitAfterSnapshot: (typeof event extends fc.Arbitrary<infer Event> ? Event : never)[] = [
  { kind: 'wait', hours: 0.5 },
  { kind: 'reload', caps: { a: null, b: null } },
  { kind: 'click', session: 1, offer: 'a', taken: true },
  { kind: 'wait', hours: 11 },
  { kind: 'view', session: 0, offers: ['b'] },
  { kind: 'wait', hours: 0.5 },
  { kind: 'click', session: 1, offer: 'b', taken: true },
  { kind: 'wait', hours: 11 },
  { kind: 'wait', hours: 3 },
  { kind: 'click', session: 0, offer: 'b', taken: true },
  { kind: 'snapshot' },
  { kind: 'reload', caps: { a: null, b: 2 } },
  { kind: 'restart', lost: 0 },
];

it('an offer is unavailable if and only if its counted clicks of the day reach the cap, for any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 120, size: 'max' }), async (events) => {
      const bench = new Bench({ a: 2, b: 1 });
      let caps: Caps = { a: 2, b: 1 };
      // The cap of each offer, or its last cap and the time of its removal.
      const last = new Map<string, { cap: number | null; leftMs: number | null }>();
      const took = (now: Caps): void => {
        caps = now;
        for (const id of ids) {
          const cap = caps[id] ?? null;
          if (cap !== 'gone') last.set(id, { cap, leftMs: null });
          else last.get(id)!.leftMs ??= bench.nowMs;
        }
      };
      took(caps);
      const sessions = new Map<number, Buffer>();
      for (const one of events) {
        if (one.kind === 'view' || one.kind === 'click') {
          const known = sessions.get(one.session);
          // After the expiry of a session, a new session reuses its number in this test.
          const live = known !== undefined && bench.nowMs - known.readUIntBE(0, 6) <= bounds.clickAttributionMs;
          const sub = live ? known : bench.shown([]);
          sessions.set(one.session, sub);
          if (one.kind === 'view') {
            const offered = one.offers.filter((id) => caps[id] !== 'gone');
            bench.append(offersViewedRecord(sub, offered, bench.nowMs));
          } else {
            const { cap, leftMs } = last.get(one.offer)!;
            // All links to the offer have expired.
            if (leftMs !== null && bench.nowMs - leftMs >= bounds.replacedCatalogRetentionMs) continue;
            const before = bookedByDay(bench.ledger).get(`${one.offer} ${daysSinceEpoch(bench.nowMs)}`) ?? 0;
            const within = bench.click(sub, one.offer, one.taken);
            if (cap === null) assert.equal(within, undefined);
            else if (within !== null) assert.equal(within, before < cap);
          }
        } else if (one.kind === 'wait') bench.nowMs += one.hours * hourMs;
        else if (one.kind === 'restart') bench.restart(null, Math.min(one.lost, bench.ledger.length));
        else if (one.kind === 'snapshot') bench.saveSnapshot();
        else {
          await bench.reload(one.caps);
          took(one.caps);
        }
        const booked = bookedByDay(bench.ledger);
        const today = daysSinceEpoch(bench.nowMs);
        const full = ids.filter((id) => {
          const cap = caps[id] ?? null;
          return typeof cap === 'number' && (booked.get(`${id} ${today}`) ?? 0) >= cap;
        });
        assert.deepEqual(bench.closed(), full);
      }
    }),
    { numRuns: 200, examples: [[firstLimitAfterSnapshot]] },
  );
});
