import assert from 'node:assert/strict';
import { test } from 'node:test';
import { docsFiles } from '../../src/openapi/docs-files.ts';
import type { Vertical } from '../../src/verticals/vertical.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';

const { vertical: personalLoans } = personalLoansFixture;

async function pageAt(path: string, publicUrl: string, verticals: readonly Vertical[]): Promise<string> {
  const urls = { public: publicUrl, click: publicUrl, widget: `${publicUrl}/w`, cdn: `${publicUrl}/cdn` };
  const page = docsFiles(verticals, urls).find((file) => file.path === path);
  assert.equal(page?.kind, 'page');
  return Buffer.from((await page.load()).plain).toString();
}

test('the reference page loads its files below the path of the public URL', async () => {
  const page = await pageAt('/docs', 'https://api.test/loans', [personalLoans, equipmentLeases]);
  const addresses = [...page.matchAll(/(?:src|href|data-document)="(?!data:)([^"]+)"/g)].map((match) => match[1]!);
  assert.equal(addresses.length, 8);
  for (const address of addresses) assert.match(address, /^\/loans\/(docs|v1)\//);
});

test('the reference page of a single vertical has no navigation', async () => {
  assert.doesNotMatch(await pageAt('/docs', 'https://api.test', [personalLoans]), /<nav/);
  assert.match(await pageAt('/docs', 'https://api.test', [personalLoans, equipmentLeases]), /<nav/);
});
