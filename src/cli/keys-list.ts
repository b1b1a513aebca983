import { existsSync } from 'node:fs';
import { issuedKeyJson, keyState } from '../access/issued-key-json.ts';
import { keyFilePath } from '../access/key-file.ts';
import { type IssuedKey, KeyRegister } from '../access/key-register.ts';
import { dataDirOf } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { systemClock } from '../domain/clock.ts';
import { printJson, printResult, say, table, timestamp } from './output.ts';
import { withKeyRegister } from './with-key-register.ts';

const headings = [
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

export function listKeys(options: { readonly json?: true }): void {
  const path = keyFilePath(dataDirOf(readEnv()));
  const nowMs = systemClock.wallMs();
  const keys = existsSync(path)
    ? withKeyRegister(
        () => KeyRegister.openExisting(path),
        (register) => register.list(),
      )
    : [];
  if (options.json) printJson(keys.map((key) => issuedKeyJson(key, nowMs)));
  else if (keys.length === 0) say(`There are no keys in ${path}. Issue one with: marketplace keys create`);
  else {
    const rows = keys.map((key) => cells(key, nowMs));
    printResult(table(headings, rows));
  }
}

function cells(key: IssuedKey, nowMs: number): string[] {
  const { requestsPerMinute, analyticsPerMinute, sessionsPerDay } = key.limits;
  return [
    key.id,
    key.accountName,
    key.vertical,
    key.mode,
    keyState(key, nowMs),
    timestamp(key.createdAtMs),
    timestamp(key.expiresAtMs),
    String(requestsPerMinute ?? '-'),
    String(analyticsPerMinute ?? '-'),
    String(sessionsPerDay ?? '-'),
  ];
}
