import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { getCommandHelp } from '../../src/cli/command.ts';
import { createProgram, flattenCommands, fullCommandName } from '../../src/cli/program.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { ok } from '../embedded/embedded-marketplace.ts';
import { generateCatalog } from '../support/random-catalog.ts';
import { createSampleData } from './sample-data-folder.ts';

/** Names of the JSON members in the help of each command. */
const documentedMembers = new Map<string, readonly string[]>();
for (const command of flattenCommands(await createProgram('0.0.0', async () => builtInVerticals))) {
  const { json } = getCommandHelp(command);
  if (json === undefined) continue;
  const members = json.slice(json.lastIndexOf(': ') + 2).split(', ');
  documentedMembers.set(fullCommandName(command).replace('marketplace ', ''), members);
}

test('the --json output of every command has the properties that the help of the command lists', async (t) => {
  const { folder, run, marketplace, partner } = await createSampleData(t);
  ok(await partner.queryAnalytics({ referrer_tag: 'hero-short' }));
  // Other tests cover these commands with a benchmark result and a server.
  const checked = new Set(['capacity', 'confirm', 'experiments create', 'experiments close']);
  /** Runs a command and compares its first object with the help. Members in `absent` depend on the data. Returns the object. */
  const check = async (
    name: string,
    args: readonly string[] = [],
    { code = 0, absent = [] }: { readonly code?: number; readonly absent?: readonly string[] } = {},
  ) => {
    const { stdout, stderr, ...ran } = await run(...name.split(' '), ...args, '--json');
    assert.deepEqual([ran.code, code === 0 ? stderr : ''], [code, ''], name);
    const parsed = JSON.parse(stdout.startsWith('{"') ? stdout.split('\n', 1)[0]! : stdout);
    const printed = Array.isArray(parsed) ? parsed[0] : parsed;
    const [names, documented] = [Object.keys(printed), documentedMembers.get(name)!];
    const missing = documented.filter((each) => !names.includes(each));
    assert.deepEqual(missing, absent, name);
    // A record of the log has further members, which depend on its kind.
    if (name !== 'log inspect') assert.equal(names.length, documented.length - missing.length, `${name}: ${names}`);
    checked.add(name);
    return printed;
  };

  const created = await check('keys create', '--account other --vertical personal-loans --mode test'.split(' '));
  await check('keys list');
  const forAcme = ['--account', 'acme'];
  const allowed = await check('origins allow', [...forAcme, 'https://a.example']);
  assert.deepEqual(allowed.origins, [{ origin: 'https://a.example', outcome: 'allowed' }]);
  await check('origins list');
  await check('origins remove', [...forAcme, 'https://a.example']);
  await check('keys revoke', [created.id]);
  await check('check-config');
  const [file, invalidFile] = [join(folder, 'offers.json'), join(folder, 'invalid.json')];
  writeFileSync(file, JSON.stringify(generateCatalog(1, 3)));
  writeFileSync(invalidFile, '{"format":1}');
  await check('catalog validate', [file]);
  await check('catalog validate', [invalidFile], { code: 1, absent: ['vertical', 'lenders', 'offers', 'versions'] });
  await check('catalog stats', [file]);
  for (const kind of ['summary', 'daily', 'sessions']) {
    await check(`analytics ${kind}`, [...forAcme, '--tag', 'hero-short']);
  }
  await check('analytics tags');
  await check('tags', forAcme);
  const arms = ['hero-short', 'hero-long'].map((referrer_tag) => ({ referrer_tag, weight: 0.5 }));
  const definition = { arms, control: 'hero-long', unit: 'session', starts_on: '2026-01-01' } as const;
  ok(await partner.defineExperiment({ name: 'hero-test', ...definition }));
  ok(await partner.getExperiment({ name: 'hero-test' }));
  await check('experiments show', ['hero-test', ...forAcme]);
  await check('experiments results', ['hero-test', ...forAcme, '--group-by', 'device']);
  await check('experiments list', forAcme);
  await check('secret rotate');
  await check('audit list');
  await check('audit verify');
  await check('log inspect', [], { absent: ['error'] });
  await check('backup', [`${folder}-copy`]);
  await marketplace.close();
  await check('keys repair');
  await check('audit repair');
  await check('analytics rebuild');
  writeFileSync(join(folder, 'ledger', '0000000000000001.log'), Buffer.alloc(16), { flag: 'r+' });
  const { damage } = await check('log verify', [], { code: 3 });
  const cut = ['--cut', `0000000000000001.log:${damage.offset}`];
  await check('log repair', cut);
  assert.equal((await check('log repair', [...cut, '--yes'])).outcome, 'cut');
  await check('log repair', [...cut, '--yes'], { absent: documentedMembers.get('log repair')!.slice(1) });
  assert.deepEqual([...checked].sort(), [...documentedMembers.keys()].sort());
});
