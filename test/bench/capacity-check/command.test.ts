import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sampleResult } from '../../capacity/sample-result.ts';
import { runMarketplace } from '../../cli/run-marketplace.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('marketplace capacity --check compares the plan with measurements of a server under load', async (t) => {
  const result = join(temporaryFolder(t), 'result.json');
  writeFileSync(result, JSON.stringify(sampleResult()));
  const args = ['capacity', '--keys', '3', '--slo-p99', '35', '--result', result, '--check', '--json'];
  const { code, stdout } = await runMarketplace([...args, '--seconds', '1', '--sessions', '1000']);
  const { check, predicted, load } = JSON.parse(stdout);
  // On a busy machine, the client or the machine may be saturated.
  const codes: Readonly<Record<string, number>> = { met: 0, missed: 1, inconclusive: 4 };
  assert.equal(code, codes[check.verdict]);
  assert.deepEqual(
    check.figures.map(({ figure }: { figure: string }) => figure),
    ['rate', 'p99', 'socket-thread', 'all-threads', 'memory'],
  );
  const [rate, p99] = check.figures;
  assert.deepEqual([rate.predicted, p99.predicted], [load.requests_per_second, predicted.p99_ms]);
  assert(rate.measured > 0 && p99.measured > 0);
  assert.deepEqual([check.refused, check.failed, check.seconds], [0, 0, 1]);
  // The initial sessions and the sessions that the load created.
  assert(check.live_sessions > 1_000 && check.keys >= 1, String(check.live_sessions));
});
