import { type Random, seededRandom } from '../population/random.ts';
import {
  analyticsRequest,
  basePath,
  clickRequests,
  createSessions,
  incomeChangeRequests,
  marketplaceRequest,
  referrerTags,
  reusableSessions,
  sessionRequest,
  withRotatingKeys,
} from './requests.ts';
import { analyticsSessionCount } from './route-scenarios.ts';
import type { Scenario } from './scenario.ts';

/**
 * Numbers of requests per 100 sessions on a page where every visitor sees offers. A page of this kind is the most
 * expensive case. The shares of the other requests are assumptions: 30 of 100 visitors fill in the form in two steps,
 * 15 view their offers again, 22 click an offer, and 2 analytics queries are made.
 */
export const lifecycleMix = {
  session: 100,
  inputs: 130,
  'marketplace, first look': 100,
  'marketplace, another look': 15,
  click: 22,
  analytics: 2,
} as const;

type LifecycleStep = keyof typeof lifecycleMix;

const lifecycleSteps = Object.keys(lifecycleMix) as LifecycleStep[];
const totalWeight = lifecycleSteps.reduce((sum, step) => sum + lifecycleMix[step], 0);

/** Returns the number of requests per step for a total of approximately `about` requests, with at least two analytics queries. */
export function lifecycleRequestCounts(about: number): Record<LifecycleStep, number> {
  const count = (step: LifecycleStep) =>
    Math.max(step === 'analytics' ? 2 : 1, Math.round((about * lifecycleMix[step]) / totalWeight));
  return Object.fromEntries(lifecycleSteps.map((step) => [step, count(step)])) as Record<LifecycleStep, number>;
}

/** Shuffles items (Fisher-Yates); the same seed gives the same order. */
export function shuffle<Item>(items: readonly Item[], random: Random): Item[] {
  const mixed = [...items];
  for (let at = mixed.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [mixed[at], mixed[other]] = [mixed[other]!, mixed[at]!];
  }
  return mixed;
}

/** Maximum number of offers per session for which click links are created. */
const offersShown = 20;

/**
 * Load on all routes in the ratio of `lifecycleMix`. No request uses a session that the same round creates, because all requests are
 * prepared before the round. The requests are the same as in session lifecycles, but are shuffled with a seed.
 */
export const lifecycleScenario: Scenario = {
  name: 'lifecycle',
  title: 'whole life cycle: all routes, in the ratio of an assumed mix',
  targets: [],
  kinds: [
    { method: 'POST', path: `${basePath}/session`, status: 200 },
    { method: 'POST', path: `${basePath}/inputs`, status: 200 },
    { method: 'GET', path: `${basePath}/marketplace`, status: 200 },
    { method: 'GET', path: '/c', status: 302 },
    { method: 'GET', path: `${basePath}/analytics`, query: 'granularity=summary', status: 200 },
    { method: 'GET', path: `${basePath}/analytics`, query: 'granularity=row', status: 200 },
  ],
  singleUse: true,
  prepareRequests: async (stage, round) => {
    // Creates the sessions for the analytics queries once, before the first round.
    await reusableSessions(stage, analyticsSessionCount, 17);
    const counts = lifecycleRequestCounts(stage.roundRequests);
    const filled = await createSessions(stage, Math.max(counts['marketplace, first look'], counts.inputs), 3 * round);
    const shown = await createSessions(stage, counts['marketplace, another look'], 3 * round + 1);
    const another = shown.map((session) => marketplaceRequest(session, 5));
    await stage.caller.callAll(another, 200);
    const clicked = await createSessions(stage, counts.click, 3 * round + 2);
    const clicks = await clickRequests(stage, clicked, offersShown);
    if (clicks.length < counts.click) throw new Error('too few borrowers match an offer of this catalog');
    return shuffle(
      [
        ...Array.from({ length: counts.session }, () => sessionRequest(stage.nextKey())),
        ...withRotatingKeys(stage, [
          ...incomeChangeRequests(filled.slice(0, counts.inputs), counts.inputs, round),
          ...filled.slice(0, counts['marketplace, first look']).map((session) => marketplaceRequest(session, 5)),
          ...another,
        ]),
        ...clicks.slice(0, counts.click),
        ...Array.from({ length: counts.analytics }, (_, at) =>
          analyticsRequest(stage.nextKey(), referrerTags[at % referrerTags.length]!, at % 2 === 0 ? 'summary' : 'row'),
        ),
      ],
      seededRandom(round),
    );
  },
};
