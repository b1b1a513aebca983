import { Command, InvalidArgumentError, Option } from 'commander';
import { issuedKeyJson } from '../access/issued-key-json.ts';
import { parseExpiry } from '../access/key-expiry.ts';
import { keyFilePath } from '../access/key-file.ts';
import { KeyRegister } from '../access/key-register.ts';
import { bounds } from '../bounds.ts';
import { dataDirOf } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { systemClock } from '../domain/clock.ts';
import type { Mode } from '../domain/mode.ts';
import { knownVerticals } from '../verticals/known-verticals.ts';
import { accountName } from './account-name.ts';

import { printResult, say, timestamp } from './output.ts';
import { wholeNumberUpTo } from './whole-number.ts';
import { withKeyRegister } from './with-key-register.ts';

interface Options {
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

export function keysCreateCommand(): Command {
  return new Command('create')
    .summary('issue an API key and show it, once')
    .description('Issues an API key and shows it. Only its hash is kept, so it cannot be shown again.')
    .requiredOption(
      '--account <name>',
      'who the key belongs to; keys of one account and vertical share sessions and figures',
      accountName,
    )
    .addOption(
      new Option('--vertical <segment>', 'the vertical it is good for')
        .choices(knownVerticals.map((vertical) => vertical.segment))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--mode <mode>', 'live: real users and revenue; test: synthetic offers, no revenue')
        .choices(['live', 'test'])
        .makeOptionMandatory(),
    )
    .option(
      '--expires <when>',
      'a date, to the end of that UTC day, or an ISO 8601 timestamp (default: never)',
      futureExpiry,
    )
    .option(
      '--requests-per-minute <n>',
      "requests in any 60 seconds (default: the service's)",
      wholeNumberUpTo(bounds.limitPerMinuteMax),
    )
    .option(
      '--analytics-per-minute <n>',
      "analytics queries in any 60 seconds (default: the service's)",
      wholeNumberUpTo(bounds.limitPerMinuteMax),
    )
    .option(
      '--sessions-per-day <n>',
      "sessions created in a UTC day (default: the service's)",
      wholeNumberUpTo(bounds.limitPerDayMax),
    )
    .option('--raw', 'print the key alone, for scripts')
    .addOption(new Option('--json', 'print the key and all about it as JSON').conflicts('raw'))
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace keys create --account acme --vertical personal-loans --mode test
  $ marketplace keys create --account acme --vertical personal-loans --mode live --expires 2030-12-31 --requests-per-minute 2000
  $ KEY=$(marketplace keys create --account acme --vertical personal-loans --mode test --raw)`,
    )
    .action(createKey);
}

function createKey(options: Options): void {
  const vertical = knownVerticals.find((known) => known.segment === options.vertical);
  if (vertical === undefined) throw new Error('commander let an unknown vertical through');
  const nowMs = systemClock.wallMs();
  const { key, issued } = withKeyRegister(KeyRegister.open(keyFilePath(dataDirOf(readEnv()))), (register) =>
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
  if (options.raw) {
    printResult(key);
  } else if (options.json) {
    printResult(JSON.stringify({ key, ...issuedKeyJson(issued, nowMs) }, null, 2));
  } else {
    printResult(key);
    const until = issued.expiresAtMs === null ? 'it does not expire' : `it expires at ${timestamp(issued.expiresAtMs)}`;
    say(`This is ${issued.id}, a ${issued.mode} key of ${issued.accountName} for ${issued.vertical}; ${until}.`);
    say('Keep it now: it is not shown again. A running server knows it at once.');
  }
}

function futureExpiry(text: string): number {
  const ms = parseExpiry(text);
  if (ms === null) {
    throw new InvalidArgumentError('It must be a date like 2030-12-31 or a timestamp like 2030-12-31T18:00:00Z.');
  }
  if (ms <= systemClock.wallMs()) throw new InvalidArgumentError('It is in the past.');
  return ms;
}
