import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Faults, InvariantError, runSchedule } from './shard-simulation.ts';

const schedules = Number(process.env.SCHEDULES ?? 2_000);

describe('simulation of shards that share a limit', () => {
  it(`${schedules} schedules exceed no limit, and refuse no click while there is room`, () => {
    for (let seed = 0; seed < schedules; seed++) {
      try {
        runSchedule(seed);
      } catch (error) {
        throw new Error(`schedule ${seed} failed`, { cause: error });
      }
    }
  });

  const mutants: Readonly<Record<keyof Faults, string>> = {
    endsGrantsByClock: 'grants that end by a clock',
    lowersLimitEarly: 'a limit that is lowered before every shard has loaded it',
    grantsBlocksAlways: 'blocks before every shard has loaded a lower limit',
    keepsRestOnActivation: 'a rest that a shard keeps when it loads a lower limit',
    refusesEarly: 'a final refusal while another shard has an unused rest',
    returnsLate: 'a rest that a shard uses after it returned the rest',
    trustsUndeclared: 'grants before every shard has declared its use',
    ignoresEpochs: 'messages of an earlier process',
    ignoresRequestNumbers: 'messages in another order',
  };
  for (const [fault, title] of Object.entries(mutants)) {
    it(`finds ${title}`, () => {
      assert.throws(() => {
        for (let seed = 0; seed < 20_000; seed++) runSchedule(seed, { [fault]: true });
      }, InvariantError);
    });
  }
});
