import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { helpOf, type JsonOutputHelp } from '../../src/cli/command.ts';
import { commandPath, createProgram, flattenCommands } from '../../src/cli/program.ts';
import { generateCatalog } from '../support/random-catalog.ts';
import type { Ran } from './run-marketplace.ts';
import { createSampleData, ok } from './sample-data-folder.ts';

const helpByCommand = new Map<string, JsonOutputHelp>();
for (const command of flattenCommands(await createProgram('0.0.0'))) {
  const { json } = helpOf(command);
  if (json !== undefined) helpByCommand.set(commandPath(command).replace('marketplace ', ''), json);
}

/** Values at a path of the help: `a.b` in an object, `a[].b` in each item of an array, `a.*.b` in each member. */
function valuesAt(value: unknown, path: string): unknown[] {
  return path.split('.').reduce<unknown[]>(
    (values, step) =>
      values.flatMap((each) => {
        if (step === '*') return Object.values(each as object);
        const member = (each as Record<string, unknown> | null)?.[step.replace('[]', '')];
        return step.endsWith('[]') ? ((member as unknown[]) ?? []) : [member];
      }),
    [value],
  );
}

function assertDocumentedMembers(name: string, value: unknown, absent: readonly string[] = []): void {
  const { members } = helpByCommand.get(name)!;
  const top = Object.keys(members).filter((member) => !member.includes('.') && !absent.includes(member));
  assert.deepEqual(Object.keys(value as object).sort(), top.sort(), name);
  for (const member of Object.keys(members).filter((each) => each.includes('.'))) {
    if (valuesAt(value, member.split('.')[0]!.replace('[]', ''))[0] == null) continue;
    for (const inner of valuesAt(value, member)) assert.notEqual(inner, undefined, `${name}: ${member}`);
  }
}

test('--json of every command prints the members that its help lists', async (t) => {
  const { folder, run, marketplace, partner } = await createSampleData(t);
  ok(await partner.queryAnalytics({ referrer_tag: 'hero-short' }));
  const json = async (code: number, ...args: string[]): Promise<unknown> => {
    const ran: Ran = await run(...args, '--json');
    assert.deepEqual([ran.code, code === 0 ? ran.stderr : ''], [code, ''], args.join(' '));
    return JSON.parse(ran.stdout);
  };
  const checked = new Set<string>();
  const check = (name: string, value: unknown, absent: readonly string[] = []): void => {
    checked.add(name);
    assertDocumentedMembers(name, Array.isArray(value) ? value[0] : value, absent);
  };
  const firstLine = async (...args: string[]): Promise<object> =>
    JSON.parse((await run(...args, '--json')).stdout.split('\n', 1)[0]!);

  const create = ['keys', 'create', '--account', 'other', '--vertical', 'personal-loans', '--mode', 'test'];
  const created = (await json(0, ...create)) as { id: string };
  check('keys create', created);
  const forHero = ['--account', 'acme', '--tag', 'hero-short'];
  const file = join(folder, 'offers.json');
  writeFileSync(file, JSON.stringify(generateCatalog(1, 3)));
  const invalidFile = join(folder, 'invalid.json');
  writeFileSync(invalidFile, '{"format":1}');
  for (const [name, ...args] of [
    ['keys list'],
    ['origins allow', '--account', 'acme', 'https://a.example'],
    ['check-config'],
    ['catalog validate', file],
    ['catalog stats', file],
    ['analytics summary', ...forHero],
    ['analytics tags'],
    ['log verify'],
    ['secret rotate'],
  ] as const) {
    check(name, await json(0, ...name.split(' '), ...args));
  }
  for (const kind of ['daily', 'sessions']) {
    check(`analytics ${kind}`, await firstLine('analytics', kind, ...forHero));
  }
  const invalid = await json(1, 'catalog', 'validate', invalidFile);
  check('catalog validate', invalid, ['vertical', 'lenders', 'offers', 'versions']);
  const record = await firstLine('log', 'inspect');
  checked.add('log inspect');
  for (const member of ['position', 'kind', 'at', 'sub_id']) assert.ok(member in record, member);
  check('backup', await json(0, 'backup', `${folder}-copy`));
  check('origins list', await json(0, 'origins', 'list'));
  check('origins remove', await json(0, 'origins', 'remove', '--account', 'acme', 'https://a.example'));
  check('keys revoke', await json(0, 'keys', 'revoke', created.id));
  await marketplace.close();
  check('analytics rebuild', await json(0, 'analytics', 'rebuild'));
  const ledger = join(folder, 'ledger', '0000000000000001.log');
  const [cut, ...absent] = Object.keys(helpByCommand.get('log repair')!.members);
  assert.equal(cut, 'outcome');
  const end = ((await json(0, 'log', 'verify')) as { bytes: number; tail_bytes: number }).bytes;
  writeFileSync(ledger, Buffer.alloc(16), { flag: 'r+' });
  const damaged = (await json(3, 'log', 'verify')) as { damage: { offset: number } };
  assertDocumentedMembers('log verify', damaged);
  assert.ok(damaged.damage.offset < end);
  check('log repair', await json(0, 'log', 'repair', '--cut', `0000000000000001.log:${damaged.damage.offset}`));
  const repaired = ['log', 'repair', '--cut', `0000000000000001.log:${damaged.damage.offset}`, '--yes'];
  assert.equal(((await json(0, ...repaired)) as { outcome: string }).outcome, 'cut');
  check('log repair', await json(0, ...repaired), absent);

  // Other tests cover these commands with a benchmark result and a server.
  for (const name of ['capacity', 'confirm']) checked.add(name);
  assert.deepEqual([...checked].sort(), [...helpByCommand.keys()].sort());
});
