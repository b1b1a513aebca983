import { keyFilePath } from '../access/key-file.ts';
import { KeyRegister } from '../access/key-register.ts';
import { dataDirOf } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { knownVerticals } from '../verticals/known-verticals.ts';
import { asOf } from './analytics-text.ts';
import { printJson, printResult, say, table } from './output.ts';
import { withKeyRegister } from './with-key-register.ts';
import { withStoredAnalytics } from './with-stored-analytics.ts';

/** Counts the referrer tags of each account, vertical and mode. */
export async function countTags(options: { readonly json?: true }): Promise<void> {
  const dataDir = dataDirOf(readEnv());
  const keys = withKeyRegister(
    () => KeyRegister.openExisting(keyFilePath(dataDir)),
    (register) => register.list(),
  );
  await withStoredAnalytics(dataDir, (analytics) => {
    const counts = analytics.tagCounts().map(([account, vertical, test, tags]) => ({
      account: keys.find((key) => key.account === account)?.accountName ?? null,
      vertical: knownVerticals.find(({ number }) => number === vertical)?.segment ?? null,
      mode: test === 1 ? 'test' : 'live',
      tags,
      as_of_position: analytics.foldedPosition,
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
    if (rows.length > 0) printResult(table(['ACCOUNT', 'VERTICAL', 'MODE', 'TAGS'], rows));
    say(`${rows.length === 0 ? 'There are no tags' : 'The tags are counted'} ${asOf(analytics.foldedPosition)}.`);
  });
}
