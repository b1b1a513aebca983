import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ApiKeyScope, apiKeyScopes, type IssuedKey, parseKeyExpiry } from '../../auth/api-key.ts';
import { keyFilePath } from '../../auth/key-file.ts';
import { getKeyState, KeyRegistry, toIssuedKeyJson } from '../../auth/key-registry.ts';
import { defaultLimitOverrides } from '../../auth/rate-limits.ts';
import { SqliteKeyDirectory } from '../../auth/sqlite-key-directory.ts';
import { bounds } from '../../bounds.ts';
import type { VerticalRegistry } from '../../catalogs/vertical-registry.ts';
import { readDataDir } from '../../config/config.ts';
import { systemClock } from '../../domain/clock.ts';
import { shardDataDir } from '../../files/data-paths.ts';
import { encodeVerticalAndMode } from '../../ids/sub-id.ts';
import { assertKeyFileIsCurrent, findKnownNumbersOfShards } from '../../server/check-data-folder.ts';
import {
  CommandLineError,
  createChoiceOption,
  createCommandGroup,
  createIntegerParser,
  createModeOption,
  createVerticalOption,
  defineCommand,
  parseAccountName,
  type TenantOptions,
} from '../command.ts';
import { createCommandRecorder } from '../command-recorder.ts';
import { checkFolderClock, createFolderClock, readFolderClock } from '../folder-clock.ts';
import { type Column, formatRows, formatTimestamp, printJson, printNotice, printResult } from '../output.ts';
import { createKeysRepairCommand } from './keys-repair.ts';

const keyJsonMembers =
  'id, account, vertical, mode, scope, state, created_at, expires_at, revoked_at, requests_per_minute, analytics_per_minute, sessions_per_day';

function keysCreateCommand(registry: VerticalRegistry): Command {
  const command = defineCommand('create', {
    summary: 'create an API key and print it once',
    description: 'Creates an API key and prints it. Only its hash is stored, so it cannot be printed again.',
    examples: [
      'marketplace keys create --account acme --vertical personal-loans --mode test',
      'marketplace keys create --account acme --vertical personal-loans --mode live --expires 2030-12-31 --requests-per-minute 2000',
      'marketplace keys create --account acme --vertical personal-loans --mode live --scope analytics',
      'KEY=$(marketplace keys create --account acme --vertical personal-loans --mode test --raw)',
    ],
    json: `one object: key, ${keyJsonMembers}`,
  })
    .requiredOption(
      '--account <name>',
      'owner of the key; keys of one account and vertical share sessions and figures',
      parseAccountName,
    )
    .addOption(createVerticalOption('vertical that the key is valid for', registry.verticals).makeOptionMandatory())
    .addOption(
      createModeOption('live: real users and revenue; test: synthetic offers, no revenue').makeOptionMandatory(),
    )
    .addOption(
      createChoiceOption(
        '--scope <scope>',
        'full: all operations; analytics: only read figures and referrer tags',
        apiKeyScopes,
      ).default('full'),
    )
    .option(
      '--expires <when>',
      'ISO 8601 timestamp, or a date for the end of that UTC day (default: never)',
      parseFutureExpiry,
    );
  for (const [flags, limited, max] of [
    ['--requests-per-minute <n>', 'requests in any 60 seconds', bounds.limitPerMinuteMax],
    ['--analytics-per-minute <n>', 'analytics queries in any 60 seconds', bounds.limitPerMinuteMax],
    ['--sessions-per-day <n>', 'sessions created per UTC day', bounds.limitPerDayMax],
  ] as const) {
    command.option(flags, `${limited} (default: that of the service)`, createIntegerParser(max));
  }
  return command
    .option('--raw', 'print only the key, for scripts')
    .addOption(new Option('--json', 'print one JSON object').conflicts('raw'))
    .action(createAndPrintKey);
}

function keysListCommand(): Command {
  return defineCommand('list', {
    summary: 'list all keys',
    description:
      'Lists all keys ever created, oldest first, by id: the keys themselves are not stored. A limit of - is the default of the service.',
    examples: [
      'marketplace keys list',
      `marketplace keys list --json | jq -r '.[] | select(.state == "active") | .id'`,
    ],
    json: `array with one object per key, oldest first: ${keyJsonMembers}`,
  }).action(printKeys);
}

function keysRevokeCommand(): Command {
  return defineCommand('revoke', {
    summary: 'revoke a key permanently',
    description: 'Revokes a key permanently. A running server rejects it within two seconds.',
    examples: [
      'marketplace keys revoke key_0123456789ab',
      `marketplace keys list --json | jq -r '.[] | select(.account == "acme") | .id' | xargs -n 1 marketplace keys revoke`,
    ],
    exitCodes: { 0: 'the key is revoked, now or before', 1: null },
    json: `one object: ${keyJsonMembers}, revoked_before`,
  })
    .argument('<id>', 'id of the key from keys list; not the key itself')
    .action(revokeKey);
}

export function createCommand(registry: VerticalRegistry): Command {
  return createCommandGroup(
    'keys',
    'Creates, lists and revokes API keys in the key file of the data folder (SVC_DATA_DIR, or ./data). A server may be running.',
    [keysCreateCommand(registry), keysListCommand(), keysRevokeCommand(), createKeysRepairCommand()],
  );
}

/** Runs a function on an open key registry, then closes the registry. */
function withKeyRegistry<Result>(registry: KeyRegistry, run: (registry: KeyRegistry) => Result): Result {
  try {
    return run(registry);
  } finally {
    registry.close();
  }
}

/** Lists all keys of a data folder, which must contain a key file. */
export function listKeys(dataDir: string): readonly IssuedKey[] {
  return withKeyRegistry(new KeyRegistry(keyFilePath(dataDir), { mustExist: true }), (registry) => registry.listKeys());
}

/**
 * Finds the account of a tenant, and the folder of the shard that serves the tenant. Throws `CommandLineError` if no API key has the account.
 */
export function findTenant(dataDir: string, { account: name, vertical, mode }: TenantOptions) {
  const onReadError = (error: unknown): never => {
    throw error;
  };
  const { account } = listKeys(dataDir).find(({ accountName }) => accountName === name) ?? {};
  if (account === undefined) throw new CommandLineError('unknown account; marketplace keys list shows all accounts');
  const directory = new SqliteKeyDirectory({ path: keyFilePath(dataDir), clock: systemClock, onReadError });
  try {
    const shard = directory.findShard(account, encodeVerticalAndMode(vertical.number, mode));
    return { tenant: { account, vertical: vertical.number, mode }, tenantDir: shardDataDir(dataDir, shard) };
  } finally {
    directory.close();
  }
}

/** Parses the expiry of a key, which must be after the time of the data folder. Returns the expiry in milliseconds since the Unix epoch. */
function parseFutureExpiry(text: string): number {
  const ms = parseKeyExpiry(text);
  if (ms === null) {
    throw new InvalidArgumentError(
      'The expiry must be a date like 2030-12-31 or a timestamp like 2030-12-31T18:00:00Z.',
    );
  }
  if (ms <= readFolderClock(readDataDir()).wallMs())
    throw new InvalidArgumentError('The expiry must be in the future.');
  return ms;
}

interface CreateKeyOptions extends TenantOptions {
  readonly scope: ApiKeyScope;
  /** Time, in milliseconds since the Unix epoch, from which the server rejects the key. */
  readonly expires?: number;
  readonly requestsPerMinute?: number;
  readonly analyticsPerMinute?: number;
  readonly sessionsPerDay?: number;
  readonly raw?: true;
}

async function createAndPrintKey(options: CreateKeyOptions): Promise<void> {
  const { account, vertical, mode, scope, expires = null, raw, json, ...limits } = options;
  const dataDir = readDataDir();
  const clock = createFolderClock(dataDir);
  const nowMs = clock.wallMs();
  const path = keyFilePath(dataDir);
  // A server may be running, so the analytics stores are opened read-only.
  assertKeyFileIsCurrent(path, await findKnownNumbersOfShards(dataDir, { readonly: true, ledger: 'unknown' }));
  const isNewFile = !existsSync(path);
  const record = createCommandRecorder(dataDir, clock);
  const newKey = { accountName: account, vertical, mode, scope, expiresAtMs: expires };
  const { key, issued } = withKeyRegistry(new KeyRegistry(path), (registry) =>
    registry.create({ ...newKey, limits: { ...defaultLimitOverrides, ...limits } }, nowMs, record),
  );
  if (json) {
    printJson({ key, ...toIssuedKeyJson(issued, nowMs) });
    return;
  }
  if (isNewFile) {
    printNotice(`Created the key file ${path}. Only a server with this data folder (SVC_DATA_DIR) accepts its keys.`);
  }
  printResult(key);
  if (raw) return;
  const expiry =
    issued.expiresAtMs === null ? 'it does not expire' : `it expires at ${formatTimestamp(issued.expiresAtMs)}`;
  printNotice(
    `Created ${issued.id}, a ${issued.mode} key of ${issued.accountName} for ${issued.vertical} with scope ${issued.scope}; ${expiry}.`,
  );
  printNotice('Store the key now: it is not shown again. A running server accepts it at once.');
}

function keyColumns(nowMs: number): readonly Column<IssuedKey>[] {
  return [
    ['ID', ({ id }) => id],
    ['ACCOUNT', ({ accountName }) => accountName],
    ['VERTICAL', ({ vertical }) => vertical],
    ['MODE', ({ mode }) => mode],
    ['SCOPE', ({ scope }) => scope],
    ['STATE', (key) => getKeyState(key, nowMs)],
    ['CREATED', ({ createdAtMs }) => formatTimestamp(createdAtMs)],
    ['EXPIRES', ({ expiresAtMs }) => formatTimestamp(expiresAtMs)],
    ['REQ/MIN', ({ limits }) => limits.requestsPerMinute ?? '-'],
    ['ANALYTICS/MIN', ({ limits }) => limits.analyticsPerMinute ?? '-'],
    ['SESSIONS/DAY', ({ limits }) => limits.sessionsPerDay ?? '-'],
  ];
}

function printKeys(options: { readonly json?: true }): void {
  const dataDir = readDataDir();
  const path = keyFilePath(dataDir);
  const nowMs = readFolderClock(dataDir).wallMs();
  const keys = existsSync(path) ? listKeys(dataDir) : [];
  if (options.json) printJson(keys.map((key) => toIssuedKeyJson(key, nowMs)));
  else if (keys.length === 0) printNotice(`There are no keys in ${path}. Create one with: marketplace keys create`);
  else printResult(formatRows(keyColumns(nowMs), keys));
}

function revokeKey(id: string, { json }: { readonly json?: true }): void {
  const dataDir = readDataDir();
  const path = keyFilePath(dataDir);
  const clock = checkFolderClock(dataDir);
  const nowMs = clock.wallMs();
  const { revocation, issued } = withKeyRegistry(new KeyRegistry(path, { mustExist: true }), (registry) => ({
    revocation: registry.revokeKey(id, nowMs, createCommandRecorder(dataDir, clock)),
    issued: registry.find(id),
  }));
  // The message does not quote the argument, because users may paste the key itself by mistake.
  if (issued === undefined) throw new CommandLineError('unknown key id; marketplace keys list shows all ids');
  const revokedBefore = revocation === 'already_revoked';
  if (json) printJson({ ...toIssuedKeyJson(issued, nowMs), revoked_before: revokedBefore });
  else printResult(revokedBefore ? `${id} was revoked before` : `revoked ${id}`);
}
