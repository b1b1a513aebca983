import { existsSync } from 'node:fs';
import { toIssuedKeyJson, keyState } from '../access/issued-key-json.ts';
import { keyFilePath } from '../access/key-file.ts';
import { type IssuedKey, KeyRegistry } from '../access/key-register.ts';
import { readDataDir } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { systemClock } from '../domain/clock.ts';
import { printJson, printResult, printNotice, formatTable, formatTimestamp } from './output.ts';
import { withKeyRegister } from './with-key-register.ts';

const keyListHeadings = [
  'ID',
  'ACCOUNT',
  'VERTICAL',
  'MODE',
  'STATE',
  'CREATED',
  'EXPIRES',
  'REQ/MIN',
  'ANALYTICS/MIN',
  'SESSIONS/DAY',
];

export function printKeys(options: { readonly json?: true }): void {
  const path = keyFilePath(readDataDir(readEnv()));
  const nowMs = systemClock.wallMs();
  const keys = existsSync(path)
    ? withKeyRegister(
        () => KeyRegistry.openExisting(path),
        (register) => register.list(),
      )
    : [];
  if (options.json) printJson(keys.map((key) => toIssuedKeyJson(key, nowMs)));
  else if (keys.length === 0) printNotice(`There are no keys in ${path}. Issue one with: marketplace keys create`);
  else {
    const rows = keys.map((key) => keyListCells(key, nowMs));
    printResult(formatTable(keyListHeadings, rows));
  }
}

function keyListCells(key: IssuedKey, nowMs: number): string[] {
  const { requestsPerMinute, analyticsPerMinute, sessionsPerDay } = key.limits;
  return [
    key.id,
    key.accountName,
    key.vertical,
    key.mode,
    keyState(key, nowMs),
    formatTimestamp(key.createdAtMs),
    formatTimestamp(key.expiresAtMs),
    String(requestsPerMinute ?? '-'),
    String(analyticsPerMinute ?? '-'),
    String(sessionsPerDay ?? '-'),
  ];
}
