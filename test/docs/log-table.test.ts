import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { logNames } from '../../src/metrics/gauges.ts';
import { sourceFiles } from '../architecture/source-tree.ts';
import { type LoggedLine, loggedLines } from './logged-lines.ts';

const page = readFileSync(new URL('../../docs/log-messages.md', import.meta.url), 'utf8');

/** By its message, what the table says of a line. */
const table = new Map(
  [...page.slice(page.indexOf('## Messages')).matchAll(/^\| ([a-z, ]+) \| (.+) \| (.+) \|$/gm)].flatMap(
    ([, levels = '', messages = '', members = '']) =>
      quoted(messages).map((message) => [message, { levels: levels.split(', '), members: quoted(members) }] as const),
  ),
);

const lines = sourceFiles('src', 'workers').flatMap(({ path, text }) =>
  loggedLines(text).map((line) => ({ path, ...line })),
);

/** The messages that a line of the source may come to; null where a variable holds it. */
function messagesOf({ message }: LoggedLine): string[] | null {
  const [, text] = /^'(.*)'$/s.exec(message) ?? [];
  if (text !== undefined) return [text];
  const [, template] = /^`(.*)`$/s.exec(message) ?? [];
  if (template === undefined) return null;
  // One row stands for the reasons of all errors.
  const withReason = template.replace(/\$\{reason\}/, '<reason>');
  if (withReason !== template) return [withReason];
  return logNames.map((log) => template.replace(/\$\{\w+\}/, log));
}

/** What the log of a process adds of itself, past the library's methods. */
const ofItself = [
  ...readFileSync(new URL('../../src/logging/standard-error-log.ts', import.meta.url), 'utf8').matchAll(
    /\bmsg: '(.*)'/g,
  ),
].map(([, message]) => message!);

test('every line of the log has its row, with its level and members, and every row its line', () => {
  const faults: string[] = [];
  const told = new Set(ofItself);
  for (const line of lines) {
    for (const message of messagesOf(line) ?? []) {
      told.add(message);
      const row = table.get(message);
      if (row === undefined) continue;
      if (line.level !== null && !row.levels.includes(line.level)) faults.push(`${message}: is ${line.level}`);
      for (const member of line.members) {
        if (!row.members.includes(member)) faults.push(`${message}: has ${member}`);
      }
    }
  }
  assert.deepEqual(faults, []);
  assert.ok(told.size > 25, `${told.size}`);
  assert.deepEqual([...table.keys()].sort(), [...told].sort());
});

test('only warnings about settings are logged from a variable', () => {
  const held = lines.filter((line) => messagesOf(line) === null).map(({ path, message }) => `${path}: ${message}`);
  assert.deepEqual([...new Set(held)].sort(), ['src/cli/actions/run-server.ts: warning']);
});

test('a line is found however it is written', () => {
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

/** What stands between backticks. */
function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, inside]) => inside!);
}
