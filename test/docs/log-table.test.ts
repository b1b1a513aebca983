import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { eventLogNames } from '../../src/metrics/gauges.ts';
import { sourceFiles } from '../architecture/source-tree.ts';

/** Call in the source that writes a log line. */
interface LoggedLine {
  /** Log level, or null if the level is computed at run time. */
  readonly level: string | null;
  /** Source text of the message: a string with its quotes, a template, or a variable. */
  readonly message: string;
  /** Names of the members in the call. */
  readonly members: readonly string[];
}

/** Matches a call of a method that is named after a log level, except on `console` and on commander commands. */
const call = /(?<!\b(?:console|command))\.(trace|debug|info|warn|error|fatal)\(|\blogger\[\w+\]\(/g;

/** Returns all log calls of a file. The first argument of a log call contains the members, and the last argument is the message. */
function loggedLines(source: string): LoggedLine[] {
  return [...source.matchAll(call)].map(({ 0: { length }, 1: level = null, index }) => {
    const parts = partsOf(source, index + length);
    const message = parts.pop() ?? '';
    const [object = ''] = parts;
    const members = object.startsWith('{') ? partsOf(object, 1).map((part) => /^\w*/.exec(part)![0]) : [];
    return { level, message, members: members.filter((name) => name !== '') };
  });
}

/** Splits the text between an opening bracket and its closing bracket at commas. */
function partsOf(source: string, from: number): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = from;
  for (let at = from; at < source.length; at++) {
    const character = source[at]!;
    if (`'"\``.includes(character)) at = source.indexOf(character, at + 1);
    else if ('([{'.includes(character)) depth++;
    else if (depth > 0 && ')]}'.includes(character)) depth--;
    else if (depth === 0 && ',)]}'.includes(character)) {
      parts.push(source.slice(start, at).trim());
      start = at + 1;
      if (character !== ',') break;
    }
  }
  return parts.filter((part) => part !== '');
}

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
  // The table has one row for all reasons of the same message.
  const withReason = template.replace(/\$\{reason\}/, '<reason>');
  if (withReason !== template) return [withReason];
  return eventLogNames.map((log) => template.replace(/\$\{\w+\}/, log));
}

/** Messages that `standard-error-log.ts` writes without pino. */
const ownLog = readFileSync(new URL('../../src/logging/standard-error-log.ts', import.meta.url), 'utf8');
const ownMessages = [...ownLog.matchAll(/\bmsg: '(.*)'/g)].map(([, message]) => message!);

test('the documentation lists every log message with its log levels and JSON members', () => {
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

test('the message of every log line is a literal, except for warnings about settings', () => {
  const variableMessages = lines
    .filter((line) => messagesOf(line) === null)
    .map(({ path, message }) => `${path}: ${message}`);
  assert.deepEqual([...new Set(variableMessages)].sort(), ['src/cli/commands/serve.ts: warning']);
});

test('the documentation lists every problem that the log explains', () => {
  const problems = sourceFiles('src')
    .filter(({ path }) => !path.startsWith('src/web/'))
    .flatMap(({ text }) => [...text.matchAll(/\btext(?: =|:)\s+'(\w[^']+)'/g)].map(([, problem]) => problem!));
  assert.ok(problems.length > 10, `${problems.length}`);
  assert.deepEqual(
    problems.filter((problem) => !page.includes(`\`${problem}\``)),
    [],
  );
});

function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, inside]) => inside!);
}
