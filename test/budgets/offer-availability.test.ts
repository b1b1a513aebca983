import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import type { CompiledCatalog } from '../../src/catalogs/compile-catalog.ts';
import { daysSinceEpoch, msPerDay } from '../../src/domain/calendar.ts';
import type { ApiKeyMode } from '../../src/domain/mode.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { allOffersAvailable } from '../../src/matching/matcher.ts';
import type { LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import {
  offersViewedRecord,
  revenueConfirmedRecord,
  widgetEventsRecord,
  widgetViewedRecord,
} from '../support/ledger-records.ts';
import { AvailabilityBench, catalogWithOffers } from './availability-bench.ts';

const hourMs = 60 * 60 * 1000;
const noon = Date.UTC(2026, 4, 20, 12);
const ids = ['a', 'b', 'c'];

/** Daily cap of each offer by id: null for no cap, `gone` for an offer that is not in the catalog. */
type Caps = Readonly<Record<string, number | null | 'gone'>>;

function catalogWith(caps: Caps, mode: ApiKeyMode = 'live'): CompiledCatalog {
  const listed = ids.filter((id) => caps[id] !== 'gone');
  const offers = listed.map((id) => [id, { daily_cap: caps[id] ?? undefined } as Partial<LoanOffer>] as const);
  return catalogWithOffers(Object.fromEntries(offers), personalLoans, mode);
}

class CapsBench extends AvailabilityBench {
  constructor(caps: Caps, pairsMax?: number) {
    super(catalogWith(caps), noon, pairsMax);
  }

  /** Clicks an offer. Returns whether the click is within the daily cap. */
  isBooked(sub: Buffer, offerId = 'a'): boolean | null | undefined {
    return this.click(sub, offerId).isBooked;
  }

  hiddenIds(): string[] {
    return Object.keys(this.hidden());
  }

  reloadCaps(caps: Caps, during?: () => void): Promise<void> {
    return this.reload(catalogWith(caps), during);
  }
}

describe('daily caps', () => {
  it('counts clicks up to the cap, then makes the offer unavailable', () => {
    const bench = new CapsBench({ a: 2, b: 1 });
    const subs = [1, 2, 3].map(() => bench.session());
    assert.deepEqual(bench.hiddenIds(), []);
    assert.equal(bench.isBooked(subs[0]!), true);
    assert.deepEqual(bench.hiddenIds(), []);
    assert.equal(bench.isBooked(subs[1]!), true);
    assert.deepEqual(bench.hiddenIds(), ['a']);
    assert.equal(bench.isBooked(subs[2]!), false);
    assert.deepEqual(bench.decider.decideClick(bench.session(['b']), 'a', bench.nowMs, 1), {
      hasValue: false,
      isBooked: null,
      unbookedReason: null,
    });
    assert.equal(bench.isBooked(subs[0]!, 'b'), true);
    assert.deepEqual(bench.hiddenIds(), ['a', 'b']);
    assert.equal(bench.bookings.countUnavailableOffers('daily_cap', bench.nowMs), 2);
    assert.equal(bench.isBooked(subs[0]!, 'c'), undefined);
  });

  it('unavailableOffers returns a new object only when the set of unavailable offers changes', () => {
    const bench = new CapsBench({ a: 1, b: 2 });
    const closed = () => bench.bookings.unavailableOffers(bench.catalog, bench.nowMs);
    assert.equal(closed(), allOffersAvailable);
    bench.isBooked(bench.session(), 'b');
    assert.equal(closed(), allOffersAvailable);
    bench.isBooked(bench.session(), 'a');
    const first = closed();
    assert.notEqual(first, allOffersAvailable);
    bench.isBooked(bench.session(), 'c');
    assert.equal(closed(), first);
    bench.isBooked(bench.session(), 'b');
    assert.notEqual(closed(), first);
    bench.nowMs += msPerDay;
    assert.equal(closed(), allOffersAvailable);
  });

  it('counts clicks on offers that a widget fetched again, but not the offer_click events that widgets send', async () => {
    const bench = new CapsBench({ a: 1, b: 1 });
    const sub = bench.session(['c']);
    bench.append(widgetViewedRecord(sub, ['a'], { wallMs: bench.nowMs }));
    bench.append(widgetViewedRecord(sub, ['b'], { again: true, wallMs: bench.nowMs }));
    bench.append(widgetEventsRecord(sub, ['offer_click'], { offerId: 'a', wallMs: bench.nowMs }));
    assert.deepEqual(bench.hiddenIds(), []);
    await bench.restart();
    assert.deepEqual(bench.hiddenIds(), []);
    assert.equal(bench.isBooked(sub, 'b'), true);
    assert.equal(bench.isBooked(sub, 'a'), true);
    await bench.restart();
    assert.deepEqual(bench.hiddenIds(), ['a', 'b']);
    assert.equal(bench.isBooked(sub, 'b'), null);
  });

  it('a daily cap resets at UTC midnight, and repeated clicks of a session on an offer do not count towards the new day', () => {
    const bench = new CapsBench({ a: 1 });
    bench.nowMs = noon + 12 * hourMs - 1;
    const [booked, refused] = [bench.session(), bench.session()];
    bench.isBooked(booked);
    assert.equal(bench.isBooked(refused), false);
    assert.deepEqual(bench.hiddenIds(), ['a']);
    bench.nowMs++;
    assert.deepEqual(bench.hiddenIds(), []);
    assert.deepEqual([bench.isBooked(booked), bench.isBooked(refused)], [null, null]);
    assert.deepEqual(bench.hiddenIds(), []);
    // The clock is set back to before midnight. The clicks of the previous day still count.
    bench.nowMs--;
    assert.deepEqual(bench.hiddenIds(), ['a']);
    assert.equal(bench.isBooked(bench.session()), false);
    bench.nowMs++;
    assert.equal(bench.isBooked(bench.session()), true);
  });

  it('counts sandbox clicks separately from live clicks', () => {
    const bench = new CapsBench({ a: 1 });
    const sandbox = catalogWith({ a: 1 }, 'test');
    bench.bookings.activateCatalog(sandbox, bench.nowMs);
    bench.isBooked(bench.session(ids, sandbox));
    assert.deepEqual(bench.hiddenIds(), []);
    assert.equal(bench.bookings.unavailableOffers(sandbox, bench.nowMs).count, 1);
    assert.equal(bench.isBooked(bench.session()), true);
    assert.equal(bench.bookings.countUnavailableOffers('daily_cap', bench.nowMs), 2);
  });

  it('offers without limits are always available, and clicks on these offers need no decision', () => {
    const bench = new CapsBench({});
    assert.equal(bench.isBooked(bench.session()), undefined);
    assert.equal(bench.bookings.unavailableOffers(bench.catalog, bench.nowMs), allOffersAvailable);
  });

  it('a lost click that a confirmation restores does not count towards the daily cap', () => {
    const bench = new CapsBench({ a: 1 });
    const sub = bench.session();
    bench.append(revenueConfirmedRecord(sub, 'a', { click: { clickedMs: bench.nowMs, valueMicros: 1 } }));
    assert.deepEqual(bench.hiddenIds(), []);
    assert.equal(bench.isBooked(sub), null);
    assert.equal(bench.isBooked(bench.session()), true);
    const open = bench.session();
    bench.nowMs += msPerDay / 2;
    bench.append(revenueConfirmedRecord(open, 'a'));
    assert.equal(bench.isBooked(open), true);
  });

  it('the last daily cap of a removed offer still limits clicks on existing links to the offer', async () => {
    const bench = new CapsBench({ a: 9 });
    const subs = Array.from({ length: 4 }, () => bench.session());
    bench.isBooked(subs[0]!);
    bench.nowMs++;
    await bench.reloadCaps({ a: 2 });
    bench.nowMs++;
    await bench.reloadCaps({ a: 'gone' });
    await bench.restart();
    assert.deepEqual(bench.hiddenIds(), []);
    assert.deepEqual(
      subs.map((sub) => bench.isBooked(sub)),
      [null, true, false, false],
    );
    assert.equal(bench.decider.decideClick(subs[3]!, 'a', bench.nowMs, 1).hasValue, false);
    bench.nowMs++;
    await bench.reloadCaps({ a: 'gone', b: 1 });
    await bench.restart();
    assert.equal(bench.decider.decideClick(subs[3]!, 'a', bench.nowMs, 1).hasValue, false);
    assert.deepEqual(bench.hiddenIds(), []);
  });

  it('the limits of a removed offer end when the links to the offer expire', async () => {
    const bench = new CapsBench({ a: 1, b: 1 });
    const sub = bench.session();
    bench.isBooked(sub);
    await bench.reloadCaps({ a: 'gone', b: 'gone' });
    bench.nowMs += hourMs;
    await bench.reloadCaps({ a: 'gone', b: 2 });
    await bench.reloadCaps({ a: 'gone', b: 'gone' });
    // An intermediate change does not extend the lifetime of the links.
    bench.nowMs += bounds.replacedCatalogRetentionMs - hourMs - 1;
    bench.bookings.activateCatalog(bench.catalog, bench.nowMs);
    assert.equal(bench.isBooked(bench.session(ids)), true);
    bench.nowMs++;
    bench.bookings.activateCatalog(bench.catalog, bench.nowMs);
    assert.equal(bench.isBooked(bench.session(ids)), undefined);
  });

  it('a click on a removed offer does not change the result of unavailableOffers', async () => {
    const bench = new CapsBench({ a: 1, b: 1 });
    const sub = bench.session();
    bench.isBooked(sub, 'b');
    await bench.reloadCaps({ a: 'gone', b: 1 });
    const closed = bench.bookings.unavailableOffers(bench.catalog, bench.nowMs);
    assert.equal(bench.isBooked(sub, 'a'), true);
    assert.equal(bench.bookings.unavailableOffers(bench.catalog, bench.nowMs), closed);
  });

  it('a new daily cap counts all clicks of the day, including clicks during the catalog reload', async () => {
    const bench = new CapsBench({});
    const subs = Array.from({ length: 4 }, () => bench.session());
    assert.equal(bench.isBooked(subs[0]!), undefined);
    bench.isBooked(subs[0]!);
    await bench.reloadCaps({ a: 3 }, () => {
      bench.isBooked(subs[0]!);
      bench.isBooked(subs[1]!);
      const late = bench.session();
      bench.isBooked(late);
      // The caller reuses its buffer immediately.
      late.fill(0);
    });
    assert.deepEqual(bench.hiddenIds(), ['a']);
    assert.deepEqual([bench.isBooked(subs[1]!), bench.isBooked(subs[2]!)], [null, false]);
  });

  it('keeps the current daily caps and click counts if the ledger cannot be read', async () => {
    const bench = new CapsBench({ a: 1 });
    bench.isBooked(bench.session());
    const next = catalogWith({ a: 1, b: 1 });
    await assert.rejects(bench.bookings.loadPastClicks(next, bench.nowMs, () => Promise.reject(new Error('no'))));
    assert.deepEqual(bench.hiddenIds(), ['a']);
    assert.equal(bench.isBooked(bench.session(), 'b'), undefined);
    await bench.reloadCaps({ a: 1, b: 1 });
    assert.deepEqual(bench.hiddenIds(), ['a', 'b']);
  });

  it('counts the first click of a session even if the session-offer pairs were evicted from memory', () => {
    const bench = new CapsBench({ a: 2 }, 2);
    const subs = Array.from({ length: 4 }, () => bench.session(['a']));
    assert.deepEqual(
      subs.map((sub) => bench.isBooked(sub)),
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

type BenchEvent = typeof event extends fc.Arbitrary<infer Event> ? Event : never;

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
const firstLimitAfterSnapshot: BenchEvent[] = [
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

/** The offers with limits are missing in the oldest replaced catalog, and a session that was shown one of them clicks after the restart. */
const offersMissingInReplacedCatalog: BenchEvent[] = [
  { kind: 'reload', caps: { a: 'gone', b: 'gone' } },
  { kind: 'reload', caps: { a: 'gone', b: null } },
  { kind: 'reload', caps: { a: 2, b: 1 } },
  { kind: 'snapshot' },
  { kind: 'view', session: 4, offers: ['a'] },
  { kind: 'click', session: 0, offer: 'a', taken: true },
  { kind: 'restart', lost: 0 },
  { kind: 'reload', caps: { a: 1, b: null } },
  { kind: 'click', session: 4, offer: 'a', taken: true },
];

it('an offer is unavailable if and only if its counted clicks of the day reach the cap, for any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 120, size: 'max' }), async (events) => {
      const bench = new CapsBench({ a: 2, b: 1 });
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
          const sub = live ? known : bench.session([]);
          sessions.set(one.session, sub);
          if (one.kind === 'view') {
            const offered = one.offers.filter((id) => caps[id] !== 'gone');
            bench.append(offersViewedRecord(sub, offered, bench.nowMs));
          } else {
            const { cap, leftMs } = last.get(one.offer)!;
            // All links to the offer have expired.
            if (leftMs !== null && bench.nowMs - leftMs >= bounds.replacedCatalogRetentionMs) continue;
            const before = bookedByDay(bench.ledger).get(`${one.offer} ${daysSinceEpoch(bench.nowMs)}`) ?? 0;
            const within = one.taken
              ? bench.isBooked(sub, one.offer)
              : bench.decider.decideClick(sub, one.offer, bench.nowMs, 1_000_000).isBooked;
            if (cap === null) assert.equal(within, undefined);
            else if (within !== null) assert.equal(within, before < cap);
          }
        } else if (one.kind === 'wait') bench.nowMs += one.hours * hourMs;
        else if (one.kind === 'restart') await bench.restart({ lost: one.lost });
        else if (one.kind === 'snapshot') bench.startSnapshot();
        else {
          await bench.reloadCaps(one.caps);
          took(one.caps);
        }
        const booked = bookedByDay(bench.ledger);
        const today = daysSinceEpoch(bench.nowMs);
        const full = ids.filter((id) => {
          const cap = caps[id] ?? null;
          return typeof cap === 'number' && (booked.get(`${id} ${today}`) ?? 0) >= cap;
        });
        assert.deepEqual(bench.hiddenIds(), full);
      }
    }),
    { numRuns: 200, examples: [[firstLimitAfterSnapshot], [offersMissingInReplacedCatalog]] },
  );
});
