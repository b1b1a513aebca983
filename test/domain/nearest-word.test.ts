import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestWord } from '../../src/domain/text.ts';

const modes = ['live', 'test'];
const settings = ['PORT', 'OPS_PORT', 'DATA_DIR', 'HOST'];

test('a letter left out, put in, changed or swapped still means the word', () => {
  for (const typed of ['liv', 'livee', 'lave', 'ilve', 'LIVE']) assert.equal(nearestWord(typed, modes), 'live', typed);
  for (const typed of ['DATADIR', 'DATA_DRI', 'DTA_DR']) assert.equal(nearestWord(typed, settings), 'DATA_DIR', typed);
});

test('what resembles no word means none, and of two words the nearer is meant', () => {
  for (const typed of ['', 'prod', 'lvee_', 'l'.repeat(1_000_000)]) assert.equal(nearestWord(typed, modes), null);
  assert.equal(nearestWord('PROT', settings), 'PORT');
  assert.equal(nearestWord('OPS_PROT', settings), 'OPS_PORT');
});
