import type { CheckRequest } from '../../src/capacity/check.ts';
import { type RouteName, routeNames } from '../../src/capacity/mix.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import {
  analyticsRequest,
  annualIncomeMax,
  inputsRequest,
  marketplaceRequest,
  type BorrowerSession,
  referrerTags,
  sessionRequest,
} from '../scenarios/borrowers.ts';
import type { CheckScale } from './check-scale.ts';

const shownOffers = 5;
/** The experiment that the written sessions belong to. */
const tag = referrerTags[0]!;

/** What the load is made from: live sessions by what is done to them, and clicks that nobody has made yet. */
export interface MixedLoadInputs {
  readonly keys: readonly string[];
  readonly changed: readonly BorrowerSession[];
  readonly known: readonly BorrowerSession[];
  readonly fresh: readonly BorrowerSession[];
  readonly clicks: readonly PreparedRequest[];
}

/**
 * The requests of a mix in the order they are sent in, each route spread evenly over the load by its share. A ranking is
 * unknown because the session's inputs have changed a while before, or because nobody has asked for it yet.
 */
export function buildMixedLoad(
  ratesPerSecond: CheckRequest['ratesPerSecond'],
  scale: Pick<CheckScale, 'requests' | 'inputsBetween'>,
  stock: MixedLoadInputs,
): PreparedRequest[] {
  const turns = new RouteScheduler(ratesPerSecond);
  const { keys, changed, known, fresh, clicks } = stock;
  let keysTaken = 0;
  const withKey = (session: BorrowerSession): BorrowerSession => ({ ...session, key: nextKey() });
  const nextKey = () => keys[keysTaken++ % keys.length]!;
  const sent: Record<RouteName, number> = { ...zeroCounts };
  let asked = 0;
  let freshTaken = 0;

  const inputs = (): PreparedRequest => {
    const session = changed[sent.inputs % changed.length]!;
    const lap = 1 + Math.floor(sent.inputs / changed.length);
    return inputsRequest(withKey(session), { annual_income: (session.borrower.annual_income + lap) % annualIncomeMax });
  };
  const unknown = (): PreparedRequest => {
    // Inputs of a session that has had others since have lost their ranking to those.
    asked = Math.max(asked, sent.inputs - changed.length);
    if (asked + scale.inputsBetween < sent.inputs) {
      return marketplaceRequest(withKey(changed[asked++ % changed.length]!), shownOffers);
    }
    const session = fresh[freshTaken++];
    if (session === undefined) throw new Error('there are too few sessions whose offers nobody has asked for');
    return marketplaceRequest(withKey(session), shownOffers);
  };
  const makers: Readonly<Record<RouteName, () => PreparedRequest>> = {
    session: () => sessionRequest(nextKey()),
    inputs,
    'marketplace-unknown': unknown,
    'marketplace-known': () =>
      marketplaceRequest(withKey(known[sent['marketplace-known'] % known.length]!), shownOffers),
    click: () => {
      const click = clicks[sent.click];
      if (click === undefined) throw new Error('there are too few clicks');
      return click;
    },
    analytics: () => analyticsRequest(nextKey(), tag, sent.analytics % 2 === 0 ? 'summary' : 'row'),
  };
  return Array.from({ length: scale.requests }, () => {
    const name = turns.next();
    const request = makers[name]();
    sent[name]++;
    return request;
  });
}

const zeroCounts = Object.fromEntries(routeNames.map((name) => [name, 0])) as Record<RouteName, number>;

/** Routes by turns: each time the one that is furthest behind its share. */
class RouteScheduler {
  readonly #rates: Readonly<Record<RouteName, number>>;
  readonly #total: number;
  readonly #deficits: Record<RouteName, number> = { ...zeroCounts };

  constructor(rates: Readonly<Record<RouteName, number>>) {
    this.#rates = rates;
    this.#total = routeNames.reduce((sum, name) => sum + rates[name], 0);
  }

  next(): RouteName {
    for (const name of routeNames) this.#deficits[name] += this.#rates[name];
    const furthest = routeNames.reduce((one, other) => (this.#deficits[other] > this.#deficits[one] ? other : one));
    this.#deficits[furthest] -= this.#total;
    return furthest;
  }
}
