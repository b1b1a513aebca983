import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AuditLogUnavailableError, serviceActor } from '../../src/audit/audit-log.ts';
import { AuditTrail } from '../../src/audit/audit-trail.ts';
import { runRecorded } from '../../src/audit/run-recorded.ts';
import { bounds } from '../../src/bounds.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryAudit } from '../support/memory-audit.ts';

test('an entry of a change that must not fail waits while the log cannot be written, with the time of the change', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const audit = new MemoryAudit();
  const { trail } = audit;
  audit.isFull = true;
  assert.throws(() => trail.recorderOf(serviceActor)('key.create', 'refused'), AuditLogUnavailableError);
  assert.equal(trail.recordOrWait(serviceActor, ['experiment.close', 'one', {}]), null);
  t.mock.timers.tick(bounds.auditRetryIntervalMs);
  assert.deepEqual([audit.actions, trail.healthy], [[], false]);
  audit.isFull = false;
  t.mock.timers.tick(bounds.auditRetryIntervalMs);
  assert.deepEqual([audit.actions, trail.healthy], [['experiment.close'], true]);
  t.mock.timers.tick(bounds.auditRetryIntervalMs);
  assert.equal(audit.changes.length, 1);
});

test('waiting entries are written before the next entry, or when the trail closes', () => {
  const audit = new MemoryAudit();
  const { trail } = audit;
  for (const end of [() => trail.recorderOf(serviceActor)('key.create', 'next'), () => trail.close()]) {
    audit.isFull = true;
    trail.recordOrWait(serviceActor, ['experiment.close', 'one', {}], ['experiment.delete', 'two', {}]);
    audit.isFull = false;
    end();
  }
  const waited = ['experiment.close', 'experiment.delete'];
  assert.deepEqual(audit.actions, [...waited, 'key.create', ...waited]);
});

test('reports lost entries above the bound, and at the close', () => {
  const lost: number[] = [];
  const errors: unknown[] = [];
  const trail = new AuditTrail({
    log: {
      append: () => {
        throw new AuditLogUnavailableError('full');
      },
    },
    clock: new ManualClock(),
    onWriteError: (error) => errors.push(error),
    onRecovered: () => assert.fail('recovered'),
    onLost: (entries) => lost.push(entries),
  });
  for (let i = 0; i <= bounds.auditEntriesWaitingMax; i++) {
    trail.recordOrWait(serviceActor, ['experiment.close', `name-${i}`, {}]);
  }
  assert.deepEqual([lost, errors.length], [[1], 1]);
  trail.close();
  assert.deepEqual(lost, [1, bounds.auditEntriesWaitingMax]);
});

test('a change that fails after its entry was written gets an entry that says so', () => {
  const audit = new MemoryAudit();
  const record = audit.trail.recorderOf(serviceActor);
  const failing = () =>
    runRecorded(record, (recordChange) => {
      recordChange('key.create', 'key_1');
      throw new Error('disk full');
    });
  assert.throws(failing, /disk full/);
  assert.deepEqual(
    audit.changes.map(({ action, subject, details }) => [action, subject, details]),
    [
      ['key.create', 'key_1', {}],
      ['change.failed', 'entry 1', { outcome: 'failed' }],
    ],
  );
  audit.isFull = true;
  assert.throws(failing, AuditLogUnavailableError);
});
