import { existsSync } from 'node:fs';
import { keyFilePath } from '../access/key-file.ts';
import { readDataDir } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { escapeInvisible } from '../domain/plain-text.ts';
import { printJson, printResult, printNotice, formatTable } from './output.ts';
import { withEmbedOrigins } from './with-embed-origins.ts';

export interface ListOriginsOptions {
  readonly account?: string;
  readonly json?: true;
}

export function printOrigins({ account, json }: ListOriginsOptions): void {
  const path = keyFilePath(readDataDir(readEnv()));
  const allowed =
    account === undefined && !existsSync(path) ? [] : withEmbedOrigins((register) => register.list(account));
  if (json) {
    printJson(allowed.map(({ accountName, origin }) => ({ account: accountName, origin })));
  } else if (allowed.length === 0) {
    const whose = account === undefined ? '' : ' for this account';
    printNotice(`No origins are allowed${whose}. Allow one with: marketplace origins allow`);
  } else {
    const rows = allowed.map(({ accountName, origin }) => [accountName, origin].map(escapeInvisible));
    printResult(formatTable(['ACCOUNT', 'ORIGIN'], rows));
  }
}
