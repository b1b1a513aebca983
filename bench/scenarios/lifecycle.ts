import { seededRandom } from '../population/random.ts';
import { analyticsSessionCount } from './analytics.ts';
import {
  analyticsRequest,
  basePath,
  incomeChangeRequests,
  clickRequests,
  reusableSessions,
  marketplaceRequest,
  createSessions,
  withRotatingKeys,
  referrerTags,
  sessionRequest,
} from './borrowers.ts';
import { lifecycleRequestCounts } from './lifecycle-mix.ts';
import type { Scenario } from './scenario.ts';
import { shuffle } from './shuffled.ts';

/** Offers one session is shown where clicks are prepared. */
const offersShown = 20;

/**
 * The routes together, in the ratio of `lifecycleMix`. All requests of a round are prepared before it, so a session that is
 * created in it is not the one whose inputs, offers and clicks follow: the work is the same, the order of one visitor's
 * requests is not. Those of one round come in a seeded shuffle.
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
  prepare: async (stage, round) => {
    // Pages of the analytics are full from the first round on.
    await reusableSessions(stage, analyticsSessionCount, 17);
    const counts = lifecycleRequestCounts(stage.roundRequests);
    const filled = await createSessions(stage, Math.max(counts['marketplace, first look'], counts.inputs), 3 * round);
    const shown = await createSessions(stage, counts['marketplace, another look'], 3 * round + 1);
    const another = shown.map((session) => marketplaceRequest(session, 5));
    await stage.caller.callAll(another, 200);
    const clicked = await createSessions(stage, counts.click, 3 * round + 2);
    const clicks = await clickRequests(stage, clicked, offersShown);
    if (clicks.length < counts.click) throw new Error('hardly any borrower matches an offer of this catalog');
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
