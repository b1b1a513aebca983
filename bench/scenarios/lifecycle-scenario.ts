import {
  computePerRoute,
  defaultTrafficMixFile,
  type RouteName,
  routeNames,
  toTrafficMix,
} from '../capacity/traffic-mix.ts';
import { type Random, seededRandom } from '../population/random.ts';
import {
  analyticsRequest,
  assignApiKeys,
  clickRequests,
  createSessions,
  marketplaceRequest,
  referrerTags,
  requestsWithChangedIncome,
  reusableSessions,
  sessionRequest,
} from './requests.ts';
import { analyticsSessionCount, singleRouteScenarios } from './route-scenarios.ts';
import type { Scenario } from './scenario.ts';

/**
 * Default traffic mix: every visitor sees offers, which is the most expensive case for the service. Rates such as 22 clicks per 100
 * sessions are assumptions.
 */
const { perSession } = toTrafficMix(defaultTrafficMixFile);
const requestsPerSession = routeNames.reduce((sum, name) => sum + perSession[name], 0);

/** Splits about `total` requests among the routes. Each route gets at least one request, and the analytics route gets at least two. */
export function lifecycleRequestCounts(total: number): Record<RouteName, number> {
  return computePerRoute((name) =>
    Math.max(name === 'analytics' ? 2 : 1, Math.round((total * perSession[name]) / requestsPerSession)),
  );
}

/** Shuffles items (Fisher-Yates); the same seed gives the same order. */
function shuffle<Item>(items: readonly Item[], random: Random): Item[] {
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
 * Measures requests to all routes in random order. Each route has the same share of the requests as in the default traffic mix. The
 * requests use only sessions that were created before the round.
 */
export const lifecycleScenario: Scenario = {
  name: 'lifecycle',
  title: 'all routes, in the ratio of an assumed traffic mix',
  targets: {},
  kinds: singleRouteScenarios.flatMap(({ kinds }) => kinds),
  singleUse: true,
  prepareRequests: async (stage, round) => {
    // Creates the sessions for the analytics queries once, before the first round.
    await reusableSessions(stage, analyticsSessionCount, 17);
    const counts = lifecycleRequestCounts(stage.roundRequests);
    const filled = await createSessions(stage, Math.max(counts['marketplace-unknown'], counts.inputs), 3 * round);
    const shown = await createSessions(stage, counts['marketplace-known'], 3 * round + 1);
    const another = shown.map((session) => marketplaceRequest(session, 5));
    await stage.caller.sendRequests(another, 200);
    const clicked = await createSessions(stage, counts.click, 3 * round + 2);
    const clicks = await clickRequests(stage, clicked, offersShown);
    if (clicks.length < counts.click) throw new Error('too few borrowers match an offer of this catalog');
    return shuffle(
      [
        ...Array.from({ length: counts.session }, () => sessionRequest(stage.nextApiKey())),
        ...assignApiKeys(stage, [
          ...requestsWithChangedIncome(filled.slice(0, counts.inputs), counts.inputs, round),
          ...filled.slice(0, counts['marketplace-unknown']).map((session) => marketplaceRequest(session, 5)),
          ...another,
        ]),
        ...clicks.slice(0, counts.click),
        ...Array.from({ length: counts.analytics }, (_, at) =>
          analyticsRequest(
            stage.nextApiKey(),
            referrerTags[at % referrerTags.length]!,
            at % 2 === 0 ? 'summary' : 'row',
          ),
        ),
      ],
      seededRandom(round),
    );
  },
};
