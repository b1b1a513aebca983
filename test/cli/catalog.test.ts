import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCatalog } from '../../src/offers/parse-catalog.ts';
import { personalLoans } from '../../src/verticals/personal-loans.ts';
import { runMarketplace } from './run-marketplace.ts';

test('generate prints a valid catalog of the size asked for, the same for the same seed', async () => {
  const generate = (...args: string[]) => runMarketplace(['catalog', 'generate', '--offers', '60', ...args]);
  const first = await generate('--lenders', '13', '--seed', '7');
  assert.deepEqual([first.code, first.stderr], [0, '']);
  const parsed = parseCatalog(first.stdout, personalLoans);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.faults.join('\n'));
  assert.equal(parsed.catalog.lenders.length, 13);
  assert.equal(parsed.catalog.lenders.flatMap(({ offers }) => offers).length, 60);
  assert.equal((await generate('--lenders', '13', '--seed', '7')).stdout, first.stdout);
  assert.notEqual((await generate('--lenders', '13', '--seed', '8')).stdout, first.stdout);
});

test('generate refuses more lenders than offers as a usage error', async () => {
  const { code, stdout, stderr } = await runMarketplace(['catalog', 'generate', '--offers', '3', '--lenders', '4']);
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /^marketplace: every lender needs an offer/);
});
