import { existsSync } from 'node:fs';
import { keyFilePath } from '../../auth/key-file.ts';
import { keyState, toIssuedKeyJson } from '../../auth/key-json.ts';
import { type IssuedKey, KeyRegistry } from '../../auth/key-registry.ts';
import { readDataDir } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { systemClock } from '../../domain/clock.ts';
import type { Mode } from '../../domain/mode.ts';
import { knownVerticals, servedVerticals } from '../../verticals/registry.ts';
import { CommandLineError } from '../command-line-error.ts';
import { formatTable, formatTimestamp, printJson, printNotice, printResult } from '../output.ts';
import { withKeyRegister } from './key-file.ts';

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
    printNotice(
      `This made the key file ${path}: a server that is to know the key must have this data folder (SVC_DATA_DIR).`,
    );
  }
  if (!servedVerticals.some(({ segment }) => segment === vertical.segment)) {
    printNotice(
      `No server of this version serves ${vertical.segment}, unless a program that embeds it brings its offers.`,
    );
  }
  if (options.raw) {
    printResult(key);
  } else {
    printResult(key);
    const until =
      issued.expiresAtMs === null ? 'it does not expire' : `it expires at ${formatTimestamp(issued.expiresAtMs)}`;
    printNotice(
      `This is ${issued.id}, a ${issued.mode} key of ${issued.accountName} for ${issued.vertical}; ${until}.`,
    );
    printNotice('Keep it now: it is not shown again. A running server knows it at once.');
  }
}

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

export function revokeKey(id: string, { json }: { readonly json?: true }): void {
  const path = keyFilePath(readDataDir(readEnv()));
  const nowMs = systemClock.wallMs();
  const { revocation, issued } = withKeyRegister(
    () => KeyRegistry.openExisting(path),
    (register) => ({ revocation: register.revoke(id, nowMs), issued: register.find(id) }),
  );
  // The id is repeated only when it is one of ours: what was pasted here by mistake may be a key.
  if (issued === undefined) throw new CommandLineError('no key has this id; marketplace keys list shows them');
  const before = revocation === 'already_revoked';
  if (json) printJson({ ...toIssuedKeyJson(issued, nowMs), revoked_before: before });
  else printResult(before ? `${id} was revoked before` : `revoked ${id}`);
}
