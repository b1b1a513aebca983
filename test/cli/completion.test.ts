import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { completionScript } from '../../src/cli/completion-script.ts';
import { program } from '../../src/cli/program.ts';

const root = program('0.0.0');

test('bash completes commands, options and values, and leaves the rest to file names', () => {
  const asked = [
    ['marketplace', ''],
    ['marketplace', 'k'],
    ['marketplace', 'keys', ''],
    ['marketplace', 'help', 'lo'],
    ['marketplace', 'h'],
    ['marketplace', 'keys', 'help', ''],
    ['marketplace', 'help', 'keys', 'c'],
    ['marketplace', 'help', 'keys', 'create', ''],
    ['marketplace', 'completion', ''],
    ['marketplace', 'completion', '--json', 'z'],
    ['marketplace', 'completion', 'bash', ''],
    ['marketplace', 'completion', 'bash', '--j'],
    ['marketplace', 'help', 'completion', ''],
    ['marketplace', 'log', '-'],
    ['marketplace', 'keys', 'create', '--mode', ''],
    ['marketplace', 'keys', 'create', '--mode', 'live', '--vert'],
    ['marketplace', 'keys', 'create', '--account', ''],
    ['marketplace', 'catalog', 'validate', 'offers'],
  ];
  const complete = asked.map(
    (words) =>
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _marketplace; echo "\${COMPREPLY[*]}"`,
  );
  const script = `set -u\n${completionScript(root, 'bash')}${complete.join('\n')}`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.deepEqual(stdout.split('\n').slice(0, -1), [
    `${root.commands.map((command) => command.name()).join(' ')} help`,
    'keys',
    'create list revoke help',
    'log',
    'help',
    'create list revoke',
    'create',
    '',
    'bash zsh fish',
    'zsh',
    '',
    '--json',
    '',
    '--help',
    'live test',
    '--vertical',
    '',
    '',
  ]);
});

for (const [shell, check] of [
  ['zsh', 'zsh'],
  ['fish', 'fish'],
] as const) {
  const skip = spawnSync(check, ['--version']).status !== 0 && `${shell} is missing`;
  test(`${shell} takes its script`, { skip }, () => {
    const { status, stderr } = spawnSync(check, ['-n'], { input: completionScript(root, shell), encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
  });
}

test('no script has a line for nothing, and each names every command', () => {
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    const script = completionScript(root, shell);
    for (const command of root.commands) assert.ok(script.includes(command.name()), `${shell}: ${command.name()}`);
    assert.ok(!script.includes('undefined'));
  }
});
