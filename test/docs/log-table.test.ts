import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { logNames } from '../../src/metrics/gauges.ts';
import { sourceFiles } from '../architecture/source-tree.ts';
import { type LoggedLine, loggedLines } from './logged-lines.ts';

const page = readFileSync(new URL('../../docs/log-messages.md', import.meta.url), 'utf8');

/** Levels and members in the table of the documentation, by message. */
const table = new Map(
  [...page.slice(page.indexOf('## Messages')).matchAll(/^\| ([a-z, ]+) \| (.+) \| (.+) \|$/gm)].flatMap(
    ([, levels = '', messages = '', members = '']) =>
      quoted(messages).map((message) => [message, { levels: levels.split(', '), members: quoted(members) }] as const),
  ),
);

const lines = sourceFiles('src', 'workers').flatMap(({ path, text }) =>
  loggedLines(text).map((line) => ({ path, ...line })),
);

/** Messages that a call in the source may log; null if the message is in a variable. */
function messagesOf({ message }: LoggedLine): string[] | null {
  const [, text] = /^'(.*)'$/s.exec(message) ?? [];
  if (text !== undefined) return [text];
  const [, template] = /^`(.*)`$/s.exec(message) ?? [];
  if (template === undefined) return null;
  // The table has one row for the reasons of all errors.
  const withReason = template.replace(/\$\{reason\}/, '<reason>');
  if (withReason !== template) return [withReason];
  return logNames.map((log) => template.replace(/\$\{\w+\}/, log));
}

/** Messages that the log writes without pino. */
const ownMessages = [
  ...readFileSync(new URL('../../src/logging/standard-error-log.ts', import.meta.url), 'utf8').matchAll(
    /\bmsg: '(.*)'/g,
  ),
].map(([, message]) => message!);

test('the documentation lists every log message with its levels and members', () => {
  const problems: string[] = [];
  const messages = new Set(ownMessages);
  for (const line of lines) {
    for (const message of messagesOf(line) ?? []) {
      messages.add(message);
      const row = table.get(message);
      if (row === undefined) continue;
      if (line.level !== null && !row.levels.includes(line.level)) problems.push(`${message}: is ${line.level}`);
      for (const member of line.members) {
        if (!row.members.includes(member)) problems.push(`${message}: has ${member}`);
      }
    }
  }
  assert.deepEqual(problems, []);
  assert.ok(messages.size > 30, `${messages.size}`);
  assert.deepEqual([...table.keys()].sort(), [...messages].sort());
});

test('only warnings about settings and incidents of a log have messages in variables', () => {
  const variableMessages = lines
    .filter((line) => messagesOf(line) === null)
    .map(({ path, message }) => `${path}: ${message}`);
  assert.deepEqual([...new Set(variableMessages)].sort(), ['src/cli/commands/serve.ts: warning']);
});

test('loggedLines finds calls in any form', () => {
  for (const [source, ...line] of [
    [`logger.info('stopped');`, 'info', `'stopped'`, []],
    [`log.warn({ one, two: f(3, [4]) }, 'given up: a, (b)');`, 'warn', `'given up: a, (b)'`, ['one', 'two']],
    [`logger[level](this.#line(request, status), \`the \${what}\`);`, null, `\`the \${what}\``, []],
    [`x.error(\n  { ...line, fault: g('}') },\n  'failed',\n);`, 'error', `'failed'`, ['fault']],
    [`logger.fatal(message)`, 'fatal', 'message', []],
  ] as const) {
    const [level, message, members] = line;
    assert.deepEqual(loggedLines(source), [{ level, message, members }]);
  }
  assert.deepEqual(loggedLines(`console.error('none'); command.error('none');`), []);
});

/** Texts between backticks. */
function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, inside]) => inside!);
}
