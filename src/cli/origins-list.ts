import { existsSync } from 'node:fs';
import { keyFilePath } from '../access/key-file.ts';
import { dataDirOf } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { visibleText } from '../domain/plain-text.ts';
import { printJson, printResult, say, table } from './output.ts';
import { withEmbedOrigins } from './with-embed-origins.ts';

export interface ListOriginsOptions {
  readonly account?: string;
  readonly json?: true;
}

export function listOrigins({ account, json }: ListOriginsOptions): void {
  const path = keyFilePath(dataDirOf(readEnv()));
  const allowed =
    account === undefined && !existsSync(path) ? [] : withEmbedOrigins((register) => register.list(account));
  if (json) {
    printJson(allowed.map(({ accountName, origin }) => ({ account: accountName, origin })));
  } else if (allowed.length === 0) {
    const whose = account === undefined ? '' : ' for this account';
    say(`No origins are allowed${whose}. Allow one with: marketplace origins allow`);
  } else {
    const rows = allowed.map(({ accountName, origin }) => [accountName, origin].map(visibleText));
    printResult(table(['ACCOUNT', 'ORIGIN'], rows));
  }
}
