import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { deleteExpiredPieces } from '../../src/journal/session-pieces.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('deletes the pieces of a snapshot whose sessions have all expired, and no other files', async (t) => {
  const folder = temporaryFolder(t);
  const [expired, live, head] = ['sessions.1000-5-1.aa', 'sessions.1001-9-2.bb', 'sessions.head-1.cc'];
  for (const name of [expired, live, head]) writeFileSync(join(folder, name!), '');
  await deleteExpiredPieces(folder, 1_000);
  assert.deepEqual(readdirSync(folder), [live, head]);
  await deleteExpiredPieces(join(folder, 'none'), 1_000);
});
