import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { RowsQuery } from '../../src/analytics/analytics.ts';
import { CounterArchive } from '../../src/analytics/counter-archive.ts';
import { bounds } from '../../src/bounds.ts';
import { dayMs, dayOf } from '../../src/domain/calendar.ts';
import { FoldedStore } from '../support/folded-store.ts';
import {
  clickedRecord,
  confirmedRecord,
  createdRecord,
  reportedRecord,
  subOf,
  viewedRecord,
  widgetViewedRecord,
} from '../support/ledger-records.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const today = dayOf(noon);
const old = noon - 10 * dayMs;
const keptFrom = today - 9;

describe('store retention', () => {
  let folded: FoldedStore;
  let root: string;
  let sealed: CounterArchive;

  beforeEach(() => {
    folded = new FoldedStore();
    root = mkdtempSync(join(tmpdir(), 'store-retention-'));
    sealed = new CounterArchive(join(root, 'sealed'));
  });
  afterEach(() => {
    folded.close();
    rmSync(root, { recursive: true });
  });

  /** Of the days that the clock calls past, those go that the ledger does too. */
  const seal = (on = today) => folded.store.applyRetention(sealed, { today: on, retentionDays: 0, wallMs: noon });
  const window = { account: 1, vertical: 1, mode: 'live', fromDay: today - 30, toDay: today } as const;
  const byTag = { ...window, referrerTag: 'tag-one', subs: null };
  const rows: RowsQuery = { ...byTag, afterPosition: 0, limit: 100 };

  it('removes what is given up in pieces, and answers from the first moment as if all were gone', () => {
    const count = 2 * bounds.sessionsPrunedPerTransaction + 10;
    const olds = Array.from({ length: count }, (_, serial) => subOf({ createdMs: old, serial }));
    const young = subOf({ createdMs: noon, serial: count });
    for (const sub of [...olds, young]) {
      folded.fold(
        createdRecord(sub, { metadata: '{"page":1}' }),
        viewedRecord(sub, ['a', 'b']),
        clickedRecord(sub, 'a'),
        confirmedRecord(sub, 'a'),
      );
    }
    const before = folded.store.getSummary({ ...byTag, today });
    assert.deepEqual(
      [before.sessions, before.clicks, before.confirmedMicros],
      [count + 1, count + 1, (count + 1) * 40e6],
    );
    seal();
    const after = { ...before, retainedFromDay: keptFrom };
    for (let pieces = 0; ; pieces++) {
      assert.deepEqual(folded.store.getSummary({ ...byTag, today }), after);
      assert.deepEqual(
        folded.store.listRows(rows).rows.map(({ sub }) => Buffer.from(sub)),
        [young],
      );
      const byIds = folded.store.getSummary({ ...byTag, referrerTag: null, subs: [...olds.slice(-400), young], today });
      assert.deepEqual([byIds.sessions, byIds.subsOutsideDates], [1, 0]);
      const [given, kept] = folded.store.findPayoutStates([
        { sub: olds.at(-1)!, offerId: 'a', txid: 'tx-1' },
        { sub: young, offerId: 'a', txid: 'tx-1' },
      ]);
      assert.deepEqual([given!.offerShown, given!.payout, kept!.offerShown], [false, null, true]);
      if (!folded.store.hasRowsToPrune) {
        assert.ok(pieces > 2);
        break;
      }
      folded.store.pruneRows();
      // Whoever goes on after a crash finds what is left to do.
      if (pieces === 0) folded.reopen();
    }
    assert.deepEqual(folded.store.getSummary({ ...byTag, today }), after);
  });

  it('seals what widgets told by device, and a store derived from nothing or left behind takes it over as it was', () => {
    const [one, other, young] = [1, 2, 3].map((serial) => subOf({ createdMs: serial === 3 ? noon : old, serial }));
    const records = [
      createdRecord(one!, { device: 1 }),
      createdRecord(other!, { device: 2 }),
      reportedRecord(one!, ['widget_loaded', 'offer_impression', 'offer_impression']),
      reportedRecord(other!, ['widget_error']),
      createdRecord(young!),
      reportedRecord(young!, ['widget_loaded']),
    ];
    folded.fold(...records);
    const wanted = { ...byTag, today };
    const before = folded.store.getSummary(wanted);
    const days = folded.store.listDays(wanted).days;
    assert.deepEqual(before.widgetEvents, [2, 0, 2, 0, 0, 0, 1]);
    seal();
    assert.deepEqual(folded.store.getSummary(wanted).widgetEvents, before.widgetEvents);
    assert.deepEqual(
      [...sealed.readAll()].filter(([kind]) => kind === 13),
      [
        [13, [dayOf(old), 1, 1, 0, 0, 0, 0, '0'], [1, 0, 2, 0, 0, 0, 0]],
        [13, [dayOf(old), 2, 1, 0, 0, 0, 0, '0'], [0, 0, 0, 0, 0, 0, 1]],
      ],
    );
    for (const alreadyFolded of [0, 2, 4, 6]) {
      const another = new FoldedStore();
      try {
        if (alreadyFolded > 0) another.fold(...records.slice(0, alreadyFolded));
        another.store.restoreArchive(sealed);
        another.fold(...records.slice(alreadyFolded));
        assert.deepEqual(another.store.getSummary(wanted), { ...before, retainedFromDay: keptFrom });
        assert.deepEqual(another.store.listDays(wanted).days, days);
      } finally {
        another.close();
      }
    }
    const byIds = { ...wanted, referrerTag: null, subs: [one!, other!, young!] };
    assert.deepEqual(folded.store.getSummary(byIds).widgetEvents, [1, 0, 0, 0, 0, 0, 0]);
  });

  it('reads what was sealed before there were widgets, and by versions that know fewer types of events or more', () => {
    const sealing = { wallMs: 1, untilDay: keptFrom, ledgerFromPosition: 1 };
    const [day, figures] = [keptFrom - 1, [5, 4, 3, 2, 1, '1'] as const];
    sealed.append(sealing, [
      [12, [1, 1, 0, 'tag-one']],
      [13, [day, 0, ...figures]],
      [13, [day, 1, ...figures], [1, 2]],
      [13, [day, 2, ...figures], [1, 1, 1, 1, 1, 1, 1, 99]],
      [12, [1, 1, 0, 'tag-two']],
      [13, [day, 0, ...figures]],
    ]);
    folded.store.restoreArchive(sealed);
    const { sessions, widgetEvents } = folded.store.getSummary({ ...byTag, today });
    assert.deepEqual([sessions, widgetEvents], [15, [2, 3, 1, 1, 1, 1, 1]]);
    const old = folded.store.getSummary({ ...byTag, referrerTag: 'tag-two', today });
    assert.deepEqual([old.sessions, old.widgetEvents], [5, [0, 0, 0, 0, 0, 0, 0]]);
  });

  it('seals nothing of widgets where there were none', () => {
    folded.fold(
      createdRecord(subOf({ createdMs: old, serial: 1 })),
      createdRecord(subOf({ createdMs: noon, serial: 2 })),
    );
    seal();
    const days = [...sealed.readAll()].flatMap((record) => (record[0] === 13 ? [record[1]] : []));
    assert.deepEqual(days, [[dayOf(old), 0, 1, 0, 0, 0, 0, '0']]);
  });

  it('counts no record of a session given up, whatever it tells', () => {
    const [gone, never, young] = [1, 2, 3].map((serial) => subOf({ createdMs: serial === 3 ? noon : old, serial }));
    folded.fold(createdRecord(gone!), viewedRecord(gone!, ['a']), createdRecord(young!));
    const before = { ...folded.store.getSummary({ ...byTag, today }), asOfMs: 0, retainedFromDay: keptFrom };
    seal();
    folded.fold(createdRecord(gone!), createdRecord(never!), viewedRecord(gone!, ['a']), clickedRecord(gone!, 'a'));
    folded.fold(reportedRecord(gone!, ['widget_loaded']), widgetViewedRecord(gone!, ['b'], { again: true }));
    assert.deepEqual({ ...folded.store.getSummary({ ...byTag, today }), asOfMs: 0 }, before);
    assert.equal(folded.store.getTotals().sealedSession, 6);
    folded.fold(viewedRecord(young!, ['a']));
    assert.equal(folded.store.getSummary({ ...byTag, today }).views, before.views + 1);
  });

  it('needs the ledger from the first segment on that tells of a session that is kept, though older ones follow', () => {
    let position = 0;
    const foldInto = (segment: number, ...records: readonly unknown[]) =>
      folded.store.applyBatch((batch) => {
        for (const record of records) batch.apply(++position, record, segment);
        return { position, segment, offset: position, crc: 0 };
      });
    const session = (serial: number, createdMs: number) => createdRecord(subOf({ createdMs, serial }));
    foldInto(1, session(1, old));
    // The clock went ahead for a moment, in the same batch and in one of its own.
    foldInto(20, session(2, old), session(3, noon), session(4, old));
    foldInto(20, session(5, old));
    foldInto(40, session(6, old));
    folded.reopen();
    seal();
    assert.equal(sealed.ledgerFromPosition, 20);
    foldInto(60, session(7, noon + dayMs));
    seal(today + 1);
    assert.equal(sealed.ledgerFromPosition, 60);
    // By the clock alone no day has passed.
    seal(today + 2);
    assert.equal(sealed.retainedFromDay, today + 1);
    foldInto(80, session(8, noon + 2 * dayMs));
    seal(today + 2);
    assert.equal(sealed.ledgerFromPosition, 80);
    assert.deepEqual([...sealed.readAll()].filter(([kind]) => kind === 11).length, 3);
  });

  it('keeps all there is until something is sealed, and never goes back', () => {
    const days = () => [folded.store.retainedFromDay, sealed.retainedFromDay];
    seal();
    assert.deepEqual(days(), [0, 0]);
    folded.fold(createdRecord(subOf({ createdMs: old, serial: 1 })));
    assert.equal(folded.store.hasRowsToPrune, false);
    seal();
    folded.fold(createdRecord(subOf({ createdMs: noon, serial: 2 })));
    seal(keptFrom - 1);
    assert.deepEqual([folded.store.listRows(rows).rows.length, ...days()], [2, 0, 0]);
    seal();
    seal(keptFrom - 1);
    assert.deepEqual([folded.store.listRows(rows).rows.length, ...days()], [1, keptFrom, keptFrom]);
    // Nothing has come of age since.
    seal(today + 5);
    assert.equal([...sealed.readAll()].filter(([kind]) => kind === 11).length, 1);
  });

  it('does not believe a clock that is far ahead before a second day of sessions says so', () => {
    const year = 365;
    folded.fold(
      createdRecord(subOf({ createdMs: old, serial: 1 })),
      createdRecord(subOf({ createdMs: noon, serial: 2 })),
    );
    const kept = () => folded.store.applyRetention(sealed, { today: today + year, retentionDays: 140, wallMs: noon });
    kept();
    folded.fold(createdRecord(subOf({ createdMs: noon + year * dayMs, serial: 3 })));
    kept();
    assert.equal(folded.store.retainedFromDay, 0);
    folded.fold(createdRecord(subOf({ createdMs: noon + (year - 1) * dayMs, serial: 4 })));
    kept();
    assert.equal(folded.store.retainedFromDay, today + year - 140);
  });

  it('needs nothing less of a ledger that began anew', () => {
    const sealing = { wallMs: 1, untilDay: keptFrom, ledgerFromPosition: 5_000 };
    sealed.append(sealing, []);
    folded.store.restoreArchive(sealed);
    assert.equal(folded.store.firstNeededPosition(sealed), 0);
    folded.fold(createdRecord(subOf({ createdMs: noon, serial: 1 })));
    assert.equal(folded.store.firstNeededPosition(sealed), 1);
  });
});
