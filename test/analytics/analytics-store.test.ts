import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { RowsPage } from '../../src/analytics/analytics.ts';
import { AnalyticsStore } from '../../src/analytics/analytics-store.ts';
import { AnalyticsModel } from '../support/analytics-model.ts';
import { arbitraryRecords, everyQuery } from '../support/arbitrary-ledger.ts';

describe('analytics store', () => {
  it('has the figures of a plain model, however the records fall into batches and whenever it is closed or cut off', () => {
    const end = fc.constantFrom('commit' as const, 'commit' as const, 'reopen' as const, 'cut off' as const);
    const batches = fc.array(fc.record({ size: fc.integer({ min: 1, max: 40 }), end }), { minLength: 1 });
    fc.assert(
      fc.property(arbitraryRecords, batches, (records, batches) => {
        const folder = mkdtempSync(join(tmpdir(), 'analytics-store-'));
        const file = join(folder, 'analytics.sqlite');
        let store = new AnalyticsStore(file);
        const reopen = () => {
          store.close();
          store = new AnalyticsStore(file);
        };
        try {
          for (let turn = 0; store.projectedPosition < records.length; turn++) {
            const { size, end } = batches[turn % batches.length]!;
            // Cut off every time, it would never end.
            const cutOff = end === 'cut off' && turn < batches.length;
            const from = store.projectedPosition;
            const piece = records.slice(from, from + size);
            const fold = () =>
              store.applyBatch((batch) => {
                for (const [index, record] of piece.entries()) batch.apply(from + index + 1, record, 1);
                if (cutOff) throw new Error('cut off');
                return { position: from + piece.length, segment: 1, offset: 0, crc: 0 };
              });
            if (cutOff) assert.throws(fold, /cut off/);
            else fold();
            if (end !== 'commit') reopen();
          }
          const model = new AnalyticsModel();
          for (const record of records) model.record(record);
          for (const query of everyQuery(records)) {
            assert.deepEqual(store.getSummary(query), model.summary(query));
            assert.deepEqual(store.listDays(query), model.daily(query));
            for (const limit of [1, 4, 100]) {
              let afterPosition: number | null = 0;
              while (afterPosition !== null) {
                const page: RowsPage = store.listRows({ ...query, afterPosition, limit });
                assert.deepEqual(page, model.rows({ ...query, afterPosition, limit }));
                assert(page.nextAfterPosition === null || page.nextAfterPosition > afterPosition);
                afterPosition = page.nextAfterPosition;
              }
            }
          }
        } finally {
          store.close();
          rmSync(folder, { recursive: true });
        }
      }),
      // The limit is for a failure: shrinking works on real files.
      { numRuns: 60, interruptAfterTimeLimit: 60_000 },
    );
  });
});
