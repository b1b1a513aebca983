import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { checkout } from './run-commands.ts';

test('docs/configuration.md lists every setting', async () => {
  const page = readFileSync(join(checkout, 'docs/configuration.md'), 'utf8');
  const listed = [...page.matchAll(/^\| ((?:`[A-Z_]+`(?:, )?)+) \|/gm)].flatMap(([, names = '']) =>
    names.replaceAll('`', '').split(', '),
  );
  const { stdout } = await runMarketplace(['check-config', '--json']);
  assert.deepEqual(listed.sort(), Object.keys(JSON.parse(stdout).settings).sort());
});
