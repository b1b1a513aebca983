import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { plain, recordsUpTo, recoveredRecords, scratchFolder } from './log-fixture.ts';

test('a process killed again and again while it appends loses no acknowledged record and invents none', async (t) => {
  const folder = scratchFolder(t);
  const child = fileURLToPath(new URL('programs/append-until-told.ts', import.meta.url));
  let before = 0;
  for (const lines of [1, 300, 1_000, 77]) {
    const appending = spawn(process.execPath, [child, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => appending.kill('SIGKILL'));
    let output = '';
    for await (const text of appending.stdout.setEncoding('utf8')) {
      output += text;
      if (output.split('\n').length > lines) appending.kill('SIGKILL');
    }
    if (appending.exitCode === null && appending.signalCode === null) await once(appending, 'exit');
    assert.equal(appending.signalCode, 'SIGKILL');
    const acknowledged = output
      .slice(0, output.lastIndexOf('\n'))
      .split('\n')
      .filter((line) => line.startsWith('durable '))
      .map((line) => Number(line.slice('durable '.length)));
    assert.ok(acknowledged.length >= lines && acknowledged[0] === before + 1);
    const records = await recoveredRecords(folder);
    assert.ok(records.length >= acknowledged.at(-1)!);
    assert.deepEqual(plain(records), plain(recordsUpTo(records.length)));
    before = records.length;
  }
});
