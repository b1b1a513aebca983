import { join } from 'node:path';
import { test } from 'node:test';
import { writeDemoHistory } from '../../../bench/demo-history/write-demo-history.ts';
import { builtInVerticals } from '../../../src/verticals/built-in-verticals.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { checkDemoHistory } from './check-demo-history.ts';

const endMs = Date.UTC(2026, 10, 27, 12);

test('each experiment has the decision of its true effect in the demo history of all verticals', async (t) => {
  const dataDir = join(temporaryFolder(t), 'demo');
  const { verticals } = builtInVerticals;
  const signal = new AbortController().signal;
  const history = await writeDemoHistory({ dataDir, verticals, endMs, onProgress: () => {}, signal });
  await checkDemoHistory(t, { dataDir, endMs, history });
});
