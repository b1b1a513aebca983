import type { Random } from '../../bench/population/random.ts';
import type { lostClickIds } from '../support/click-ids.ts';
import type { Expectations } from './expectations.ts';
import type { Partner } from './partner.ts';
import type { SessionRecord } from './session-record.ts';
import type { Tally } from './tally.ts';
import type { Wire } from './wire.ts';

/** One of several who use the service at the same time, through all its lives. */
export interface Caller {
  readonly name: string;
  readonly partner: Partner;
  /** Its own: nobody else asks anything of them under load. */
  readonly sessions: SessionRecord[];
}

export interface LoadOptions {
  readonly caller: Caller;
  readonly wire: Wire;
  readonly random: Random;
  readonly expectations: Expectations;
  readonly tally: Tally;
  readonly lostClickId: ReturnType<typeof lostClickIds>;
  /** A live partner near the end of its day's sessions, and the tag of all it creates. */
  readonly limit: { readonly partner: Partner; readonly tag: string };
}
