import { existsSync } from 'node:fs';
import { toIssuedKeyJson } from '../access/issued-key-json.ts';
import { keyFilePath } from '../access/key-file.ts';
import { KeyRegistry } from '../access/key-register.ts';
import { readDataDir } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { systemClock } from '../domain/clock.ts';
import type { Mode } from '../domain/mode.ts';
import { knownVerticals } from '../verticals/known-verticals.ts';
import { servedVerticals } from '../verticals/served-verticals.ts';
import { printJson, printResult, printNotice, formatTimestamp } from './output.ts';
import { withKeyRegister } from './with-key-register.ts';

export interface CreateKeyOptions {
  readonly account: string;
  readonly vertical: string;
  readonly mode: Mode;
  readonly expires?: number;
  readonly requestsPerMinute?: number;
  readonly analyticsPerMinute?: number;
  readonly sessionsPerDay?: number;
  readonly raw?: true;
  readonly json?: true;
}

export function createAndPrintKey(options: CreateKeyOptions): void {
  const vertical = knownVerticals.find((known) => known.segment === options.vertical);
  if (vertical === undefined) throw new Error('commander let an unknown vertical through');
  const nowMs = systemClock.wallMs();
  const path = keyFilePath(readDataDir(readEnv()));
  const isFirst = !existsSync(path);
  const { key, issued } = withKeyRegister(
    () => KeyRegistry.open(path),
    (register) =>
      register.create(
        {
          accountName: options.account,
          vertical,
          mode: options.mode,
          expiresAtMs: options.expires ?? null,
          limits: {
            requestsPerMinute: options.requestsPerMinute ?? null,
            analyticsPerMinute: options.analyticsPerMinute ?? null,
            sessionsPerDay: options.sessionsPerDay ?? null,
          },
        },
        nowMs,
      ),
  );
  if (options.json) {
    printJson({ key, ...toIssuedKeyJson(issued, nowMs) });
    return;
  }
  if (isFirst) {
    printNotice(`This made the key file ${path}: a server that is to know the key must have this data folder (SVC_DATA_DIR).`);
  }
  if (!servedVerticals.some(({ segment }) => segment === vertical.segment)) {
    printNotice(`No server of this version serves ${vertical.segment}, unless a program that embeds it brings its offers.`);
  }
  if (options.raw) {
    printResult(key);
  } else {
    printResult(key);
    const until = issued.expiresAtMs === null ? 'it does not expire' : `it expires at ${formatTimestamp(issued.expiresAtMs)}`;
    printNotice(`This is ${issued.id}, a ${issued.mode} key of ${issued.accountName} for ${issued.vertical}; ${until}.`);
    printNotice('Keep it now: it is not shown again. A running server knows it at once.');
  }
}
