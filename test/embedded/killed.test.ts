import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createMarketplace, type Result } from '../../src/index.ts';
import { afterwards } from '../support/afterwards.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';

const program = fileURLToPath(new URL('programs/session-after-session.ts', import.meta.url));
const listed = 500;

function ok<Value>(result: Result<Value>): Value {
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

for (const durability of ['fsync', 'write'] as const) {
  test(`restores every acknowledged session exactly once after kill -9, with durability ${durability}`, async (t) => {
    const folder = temporaryFolder();
    afterwards(t, () => rmSync(folder, { recursive: true }));
    const child = spawn(process.execPath, [program, folder, durability], { stdio: ['ignore', 'pipe', 'inherit'] });
    afterwards(t, () => child.kill('SIGKILL'));
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      // Kills the process under load. The loop still reads the rest of its output.
      if (lines.push(line) === listed) child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    assert.equal(child.signalCode, 'SIGKILL');
    const [key = '', ...answered] = lines;
    assert.ok(answered.length >= listed - 1);
    assert.equal(new Set(answered).size, answered.length);

    const marketplace = await createMarketplace({ dataDir: folder, durability, maxReferrerTags: 1 });
    afterwards(t, () => marketplace.close());
    const partner = marketplace.partner(key);
    for (let from = 0; from < answered.length; from += listed) {
      const ids = answered.slice(from, from + listed);
      const summary = ok(await partner.queryAnalytics({ sub_id_list: ids }));
      assert.equal(summary.sessions_total, ids.length);
    }
    const { sessions_total: all } = ok(await partner.queryAnalytics({ referrer_tag: 'killed' }));
    // The last group may contain durable sessions whose responses were not sent before the kill.
    assert.ok(all >= answered.length && all <= answered.length + 8, `${all} of ${answered.length}`);
    assert.equal(ok(await partner.submitInputs({ sub_id: answered[0] as string, fields: {} })).sub_id, answered[0]);

    ok(await partner.createSession({ referrer_tag: 'killed' }));
    const another = await partner.createSession({ referrer_tag: 'another' });
    assert.ok(!another.ok && another.error.error === 'TAG_LIMIT_EXCEEDED');
  });
}
