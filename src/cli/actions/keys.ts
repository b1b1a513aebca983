import { existsSync } from 'node:fs';
import { keyFilePath } from '../../auth/key-file.ts';
import { type IssuedKey, KeyRegistry, keyState, toIssuedKeyJson } from '../../auth/key-registry.ts';
import { readDataDir } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { systemClock } from '../../domain/clock.ts';
import type { Mode } from '../../domain/mode.ts';
import { type KnownVertical, servedVerticals } from '../../verticals/registry.ts';
import { CommandLineError } from '../command-line-error.ts';
import { formatTable, formatTimestamp, printJson, printNotice, printResult } from '../output.ts';

/** Runs a command on an open key registry, and closes the registry. */
export function withKeyRegistry<Result>(registry: KeyRegistry, run: (registry: KeyRegistry) => Result): Result {
  try {
    return run(registry);
  } finally {
    registry.close();
  }
}

export interface CreateKeyOptions {
  readonly account: string;
  readonly vertical: KnownVertical;
  readonly mode: Mode;
  /** Time from which the key is rejected, in milliseconds since the Unix epoch. */
  readonly expires?: number;
  readonly requestsPerMinute?: number;
  readonly analyticsPerMinute?: number;
  readonly sessionsPerDay?: number;
  readonly raw?: true;
  readonly json?: true;
}

export function createAndPrintKey(options: CreateKeyOptions): void {
  const { account, vertical, mode } = options;
  const nowMs = systemClock.wallMs();
  const path = keyFilePath(readDataDir(readEnv()));
  const isNewFile = !existsSync(path);
  const limits = {
    requestsPerMinute: options.requestsPerMinute ?? null,
    analyticsPerMinute: options.analyticsPerMinute ?? null,
    sessionsPerDay: options.sessionsPerDay ?? null,
  };
  const { key, issued } = withKeyRegistry(KeyRegistry.open(path), (registry) =>
    registry.create({ accountName: account, vertical, mode, expiresAtMs: options.expires ?? null, limits }, nowMs),
  );
  if (options.json) {
    printJson({ key, ...toIssuedKeyJson(issued, nowMs) });
    return;
  }
  if (isNewFile) {
    printNotice(`Created the key file ${path}. Only a server with this data folder (SVC_DATA_DIR) accepts its keys.`);
  }
  if (!servedVerticals.some(({ segment }) => segment === vertical.segment)) {
    printNotice(
      `This version has no offers for ${vertical.segment}: only a program that embeds the service with offers of its own serves it.`,
    );
  }
  printResult(key);
  if (options.raw) return;
  const expiry =
    issued.expiresAtMs === null ? 'it does not expire' : `it expires at ${formatTimestamp(issued.expiresAtMs)}`;
  printNotice(`Created ${issued.id}, a ${issued.mode} key of ${issued.accountName} for ${issued.vertical}; ${expiry}.`);
  printNotice('Store the key now: it is not shown again. A running server accepts it at once.');
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
  const keys = existsSync(path) ? withKeyRegistry(KeyRegistry.openExisting(path), (registry) => registry.list()) : [];
  if (options.json) printJson(keys.map((key) => toIssuedKeyJson(key, nowMs)));
  else if (keys.length === 0) printNotice(`There are no keys in ${path}. Create one with: marketplace keys create`);
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
  const { revocation, issued } = withKeyRegistry(KeyRegistry.openExisting(path), (registry) => ({
    revocation: registry.revoke(id, nowMs),
    issued: registry.find(id),
  }));
  // The message does not repeat the argument, which may be a key that was pasted by mistake.
  if (issued === undefined) throw new CommandLineError('no key has this id; marketplace keys list shows them');
  const revokedBefore = revocation === 'already_revoked';
  if (json) printJson({ ...toIssuedKeyJson(issued, nowMs), revoked_before: revokedBefore });
  else printResult(revokedBefore ? `${id} was revoked before` : `revoked ${id}`);
}
