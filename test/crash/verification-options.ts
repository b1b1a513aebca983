import type { Random } from '../../bench/population/random.ts';
import type { Mode } from '../../src/index.ts';
import type { Expectations } from './expectations.ts';
import type { Partner } from './partner.ts';
import type { Tally } from './tally.ts';
import type { Wire } from './wire.ts';

export interface VerificationOptions {
  readonly wire: Wire;
  readonly partners: Readonly<Record<Mode, Partner>>;
  readonly expectations: Expectations;
  readonly tally: Tally;
  readonly random: Random;
}

export const modes = ['live', 'test'] as const;
