import type { LoadClient } from '../load/load-client.ts';
import type { BenchContext } from '../part.ts';

/** Rounds that a second client measures once more, as long as those of the first. */
const crossCheckRounds = 3;

/** Rounds with one client. */
export interface ClientSeries {
  readonly client: LoadClient;
  readonly rounds: number;
}

/** What is measured of a scenario: all rounds with the client, and a few with a second one where there is one. */
export function planSeries({
  scale,
  client,
  crossCheck,
}: Pick<BenchContext, 'scale' | 'client' | 'crossCheck'>): ClientSeries[] {
  const main = { client, rounds: scale.rounds };
  return crossCheck === undefined
    ? [main]
    : [main, { client: crossCheck, rounds: Math.min(scale.rounds, crossCheckRounds) }];
}
