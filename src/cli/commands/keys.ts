import { Command, Option } from 'commander';
import { bounds } from '../../bounds.ts';
import { knownVerticals } from '../../verticals/registry.ts';
import type { CreateKeyOptions } from '../actions/keys.ts';
import { withHelp } from '../command-help.ts';
import { choiceOption, parseAccountName, parseFutureExpiry, parseIntegerUpTo } from '../option-parsers.ts';

/** Descriptions of the members that `toIssuedKeyJson` returns. */
const keyJsonMembers = {
  id: 'id of the key: `key_` and twelve hexadecimal digits',
  account: 'name of the account',
  vertical: 'path segment of the vertical',
  mode: '`live` or `test`',
  state: '`active`, `expired` or `revoked`',
  created_at: 'ISO 8601, as all times',
  expires_at: 'null if it does not expire',
  revoked_at: 'null if it is not revoked',
  requests_per_minute: 'limit of this key, or null for the default of the service',
  analytics_per_minute: 'the same for analytics queries per minute',
  sessions_per_day: 'the same for sessions per UTC day',
} as const;

function keysCreateCommand(): Command {
  const command = new Command('create')
    .summary('create an API key and print it once')
    .description('Creates an API key and prints it. Only its hash is stored, so it cannot be printed again.')
    .requiredOption(
      '--account <name>',
      'owner of the key; keys of one account and vertical share sessions and figures',
      parseAccountName,
    )
    .addOption(
      choiceOption(
        '--vertical <segment>',
        'vertical that the key is valid for',
        knownVerticals,
        ({ segment }) => segment,
      ).makeOptionMandatory(),
    )
    .addOption(
      choiceOption('--mode <mode>', 'live: real users and revenue; test: synthetic offers, no revenue', [
        'live',
        'test',
      ]).makeOptionMandatory(),
    )
    .option(
      '--expires <when>',
      'ISO 8601 timestamp, or a date for the end of that UTC day (default: never)',
      parseFutureExpiry,
    )
    .option(
      '--requests-per-minute <n>',
      'requests in any 60 seconds (default: that of the service)',
      parseIntegerUpTo(bounds.limitPerMinuteMax),
    )
    .option(
      '--analytics-per-minute <n>',
      'analytics queries in any 60 seconds (default: that of the service)',
      parseIntegerUpTo(bounds.limitPerMinuteMax),
    )
    .option(
      '--sessions-per-day <n>',
      'sessions created per UTC day (default: that of the service)',
      parseIntegerUpTo(bounds.limitPerDayMax),
    )
    .option('--raw', 'print only the key, for scripts')
    .addOption(new Option('--json', 'print one JSON object').conflicts('raw'))
    .action(async (options: CreateKeyOptions) => {
      const { createAndPrintKey } = await import('../actions/keys.ts');
      createAndPrintKey(options);
    });
  return withHelp(command, {
    examples: [
      'marketplace keys create --account acme --vertical personal-loans --mode test',
      'marketplace keys create --account acme --vertical personal-loans --mode live --expires 2030-12-31 --requests-per-minute 2000',
      'KEY=$(marketplace keys create --account acme --vertical personal-loans --mode test --raw)',
    ],
    exitCodes: { 1: null },
    json: { output: 'one object', members: { key: 'the key itself; no other command prints it', ...keyJsonMembers } },
  });
}

function keysListCommand(): Command {
  const command = new Command('list')
    .summary('list all keys')
    .description(
      'Lists all keys ever created, oldest first, by id: the keys themselves are not stored. A limit of - is the default of the service.',
    )
    .option('--json', 'print an array of JSON objects')
    .action(async (options: { readonly json?: true }) => {
      const { printKeys } = await import('../actions/keys.ts');
      printKeys(options);
    });
  return withHelp(command, {
    examples: [
      'marketplace keys list',
      `marketplace keys list --json | jq -r '.[] | select(.state == "active") | .id'`,
    ],
    exitCodes: { 1: null },
    json: { output: 'array with one object per key, oldest first', members: keyJsonMembers },
  });
}

function keysRevokeCommand(): Command {
  const command = new Command('revoke')
    .summary('revoke a key permanently')
    .description('Revokes a key permanently. A running server rejects it within two seconds.')
    .argument('<id>', 'id of the key from keys list; not the key itself')
    .option('--json', 'print one JSON object')
    .action(async (id: string, options: { readonly json?: true }) => {
      const { revokeKey } = await import('../actions/keys.ts');
      revokeKey(id, options);
    });
  return withHelp(command, {
    examples: [
      'marketplace keys revoke key_0123456789ab',
      `marketplace keys list --json | jq -r '.[] | select(.account == "acme") | .id' | xargs -n 1 marketplace keys revoke`,
    ],
    exitCodes: { 0: 'the key is revoked, now or before', 1: null },
    json: {
      output: 'one object',
      members: { ...keyJsonMembers, revoked_before: 'whether it was revoked before' },
    },
  });
}

export function keysCommand(): Command {
  const command = new Command('keys')
    .summary('create, list and revoke API keys')
    .description(
      'Creates, lists and revokes API keys in the key file of the data folder (SVC_DATA_DIR, or ./data). A server may be running.',
    )
    .addCommand(keysCreateCommand())
    .addCommand(keysListCommand())
    .addCommand(keysRevokeCommand());
  return withHelp(command, {
    examples: [
      'marketplace keys create --account acme --vertical personal-loans --mode test',
      'marketplace keys list',
      'marketplace keys revoke key_0123456789ab',
    ],
    exitCodes: { 1: null },
  });
}
