import { drawStandardNormal, seededRandom } from '../bench/population/random.ts';
import { msPerDay, parseIsoDate } from '../src/domain/calendar.ts';
import { assembleResults } from '../src/experiments/assemble-results.ts';
import type { ExperimentResults } from '../src/experiments/experiment-results.ts';
import { experimentWith, figuresOf, type RawSession } from '../test/experiments/experiment-fixture.ts';

const days = 42;
const sessionsPerDay = 300;

/** Simulates the results of an experiment of six weeks on its planned day, because an example of a new experiment would have no figures. */
export function simulateResults(
  name: string,
  arms: readonly { referrer_tag: string; weight: number; label: string }[],
): ExperimentResults {
  const random = seededRandom(11);
  const startsOn = parseIsoDate('2026-11-30')!;
  const experiment = experimentWith(arms.length, {
    createdMs: startsOn * msPerDay,
    arms: arms.map(({ referrer_tag: referrerTag, weight, label }) => ({ referrerTag, weight, label })),
    control: arms[0]!.referrer_tag,
    startsOn,
    endsOn: startsOn + days - 1,
    minEffectPercent: 10,
  });
  const sessions = Array.from({ length: days * sessionsPerDay }, (_, index): RawSession => {
    const arm = random() < 0.5 ? 0 : 1;
    const isClicked = random() < 0.3;
    const isPaid = isClicked && random() < 0.05 + 0.05 * arm;
    const usd = isPaid ? Math.round(7_000 * Math.exp(0.5 * drawStandardNormal(random))) / 100 : 0;
    return {
      arm,
      day: index % days,
      usd,
      views: random() < 0.6 ? 1 : 0,
      clicks: isClicked ? 1 : 0,
      payouts: isPaid ? 1 : 0,
      ageWeeks: Math.floor(8 * random() ** 2),
    };
  });
  return assembleResults({ ...experiment, name }, figuresOf(experiment, days + 52, sessions)).results;
}
