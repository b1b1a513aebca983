import { Command, Option } from 'commander';
import { bounds } from '../bounds.ts';
import { knownVerticals } from '../verticals/known-verticals.ts';
import { parseAccountName } from './account-name.ts';
import { choiceOption } from './choice-option.ts';
import { parseFutureExpiry } from './future-expiry.ts';
import { withHelp } from './guide.ts';
import { keyJsonMembers } from './issued-key-members.ts';
import type { CreateKeyOptions } from './keys-create.ts';
import { parseIntegerUpTo } from './whole-number.ts';

export function keysCreateCommand(): Command {
  const command = new Command('create')
    .summary('issue an API key and show it, once')
    .description('Issues an API key and shows it. Only its hash is kept, so it cannot be shown again.')
    .requiredOption(
      '--account <name>',
      'who the key belongs to; keys of one account and vertical share sessions and figures',
      parseAccountName,
    )
    .addOption(
      choiceOption(
        '--vertical <segment>',
        'the vertical it is good for',
        knownVerticals.map((vertical) => vertical.segment),
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
      'a date, to the end of that UTC day, or an ISO 8601 timestamp (default: never)',
      parseFutureExpiry,
    )
    .option(
      '--requests-per-minute <n>',
      "requests in any 60 seconds (default: the service's)",
      parseIntegerUpTo(bounds.limitPerMinuteMax),
    )
    .option(
      '--analytics-per-minute <n>',
      "analytics queries in any 60 seconds (default: the service's)",
      parseIntegerUpTo(bounds.limitPerMinuteMax),
    )
    .option(
      '--sessions-per-day <n>',
      "sessions created in a UTC day (default: the service's)",
      parseIntegerUpTo(bounds.limitPerDayMax),
    )
    .option('--raw', 'print the key alone, for scripts')
    .addOption(new Option('--json', 'print one JSON object').conflicts('raw'))
    .action(async (options: CreateKeyOptions) => {
      const { createAndPrintKey } = await import('./keys-create.ts');
      createAndPrintKey(options);
    });
  return withHelp(command, {
    examples: [
      'marketplace keys create --account acme --vertical personal-loans --mode test',
      'marketplace keys create --account acme --vertical personal-loans --mode live --expires 2030-12-31 --requests-per-minute 2000',
      'KEY=$(marketplace keys create --account acme --vertical personal-loans --mode test --raw)',
    ],
    exitCodes: { 1: null },
    json: { output: 'one object', members: { key: 'the key itself, only here', ...keyJsonMembers } },
  });
}
