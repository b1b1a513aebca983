import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RelayFaults, runRelaySchedule } from './relay-simulation.ts';

const schedules = Number(process.env.SCHEDULES ?? 2_000);

describe('simulation of relayed clicks', () => {
  it(`${schedules} schedules count each click once`, () => {
    for (let seed = 0; seed < schedules; seed++) runRelaySchedule(seed);
  });

  const mutants: Readonly<Record<keyof RelayFaults, readonly [title: string, error: RegExp]>> = {
    decidesWhereItArrived: ['a click decided where it arrived', /counted 2 times/],
    countsRelayedTwice: ['a relayed click counted twice', /counted 2 times/],
    forgetsUnconfirmed: ['a relayed click lost with the connection', /not counted/],
  };
  for (const [fault, [title, error]] of Object.entries(mutants)) {
    it(`finds ${title}`, () => {
      assert.throws(() => {
        for (let seed = 0; seed < 2_000; seed++) runRelaySchedule(seed, { [fault]: true });
      }, error);
    });
  }
});
