import { keyFilePath } from '../access/key-file.ts';
import { KeyRegistry } from '../access/key-register.ts';
import { readDataDir } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { knownVerticals } from '../verticals/known-verticals.ts';
import { formatAsOf } from './analytics-text.ts';
import { printJson, printResult, printNotice, formatTable } from './output.ts';
import { withKeyRegister } from './with-key-register.ts';
import { withStoredAnalytics } from './with-stored-analytics.ts';

/** Counts the referrer tags of each account, vertical and mode. */
export async function printTagCounts(options: { readonly json?: true }): Promise<void> {
  const dataDir = readDataDir(readEnv());
  const keys = withKeyRegister(
    () => KeyRegistry.openExisting(keyFilePath(dataDir)),
    (register) => register.list(),
  );
  await withStoredAnalytics(dataDir, (analytics) => {
    const counts = analytics.countTags().map(([account, vertical, test, tags]) => ({
      account: keys.find((key) => key.account === account)?.accountName ?? null,
      vertical: knownVerticals.find(({ number }) => number === vertical)?.segment ?? null,
      mode: test === 1 ? 'test' : 'live',
      tags,
      as_of_position: analytics.projectedPosition,
    }));
    if (options.json) {
      printJson(counts);
      return;
    }
    const rows = counts.map(({ account, vertical, mode, tags }) => [
      account ?? '-',
      vertical ?? '-',
      mode,
      String(tags),
    ]);
    if (rows.length > 0) printResult(formatTable(['ACCOUNT', 'VERTICAL', 'MODE', 'TAGS'], rows));
    printNotice(`${rows.length === 0 ? 'There are no tags' : 'The tags are counted'} ${formatAsOf(analytics.projectedPosition)}.`);
  });
}
