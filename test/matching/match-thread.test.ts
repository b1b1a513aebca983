import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import process from 'node:process';
import { test } from 'node:test';
import { plainEnvironment } from '../support/plain-environment.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';

// That it must not is a matter of milliseconds in a thread's start: tried at random, one of some hundred ends took the process along.
test('loads the thread without `require`, which can crash the process when the thread is terminated', (t) => {
  const archiveFolder = temporaryFolder();
  t.after(() => rmSync(archiveFolder, { recursive: true }));
  const told =
    "import { isMainThread } from 'node:worker_threads'; import { writeSync } from 'node:fs'; if (!isMainThread) writeSync(1, 'require of modules: ' + process.features.require_module + '; ');";
  const program = `
    const { MatchThread } = await import('${new URL('../../src/matching/match-thread.ts', import.meta.url)}');
    const thread = new MatchThread({ archiveFolder: ${JSON.stringify(archiveFolder)}, verticals: [] }, () => console.log('ended'));
    await thread.match({ requests: [], unavailable: [] }).then((answers) => console.log(answers.length, 'answers'));
    await thread.close();`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    env: { ...plainEnvironment(), NODE_OPTIONS: `--import="data:text/javascript,${encodeURIComponent(told)}"` },
  });
  assert.equal(stdout, 'require of modules: false; 0 answers\n', stderr);
});
