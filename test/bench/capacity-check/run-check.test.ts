import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { Progress } from '../../../bench/bench-part.ts';
import { runCapacityCheck } from '../../../bench/capacity-check/run-capacity-check.ts';
import { generateCatalog } from '../../support/random-catalog.ts';
import { countedLatencyMs, countedOpenLoop } from '../support/counted-load.ts';

test('sends a small load of every route to a real server, and deletes all files and processes afterwards', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'capacity-check-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const findings = await runCapacityCheck(
    {
      ratesPerSecond: {
        session: 20,
        inputs: 26,
        'marketplace-unknown': 20,
        'marketplace-known': 3,
        click: 4,
        analytics: 1,
      },
      seconds: 1,
      initialSessions: 2_000,
    },
    {
      sendOpenLoop: countedOpenLoop(),
      folder,
      progress: new Progress(new PassThrough() as unknown as NodeJS.WriteStream),
      generateCatalogText: (offers) => JSON.stringify(generateCatalog(1, offers)),
    },
  );
  assert.deepEqual([findings.refused, findings.failed], [0, 0]);
  assert.equal(findings.p99Ms, countedLatencyMs.p99);
  // The initial sessions and the sessions that the load created.
  assert(findings.liveSessions > 2_000 && findings.liveSessions < 2_200, String(findings.liveSessions));
  assert(findings.keys >= 1);
  assert.deepEqual(readdirSync(folder), []);
});
