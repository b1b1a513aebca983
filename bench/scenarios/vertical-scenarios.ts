import type { PreparedRequest } from '../load/prepared-request.ts';
import { seededRandom } from '../population/random.ts';
import { type VisitorPopulation, visitorPopulations } from '../population/visitor.ts';
import { assignApiKeys, type MarketplaceResponse } from './requests.ts';
import type { Scenario, ScenarioContext } from './scenario.ts';

interface VisitorSession {
  readonly subId: string;
  readonly key: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const offersRequested = 5;
/** Maximum number of sessions; large enough to represent many different visitors. */
const sessionsMax = 5_000;

/** Creates the scenarios that measure requests for offers of one vertical, with a cached ranking and with a new ranking. */
function createVerticalScenarios(population: VisitorPopulation): readonly Scenario[] {
  const { vertical, changedField } = population;
  const { segment } = vertical;
  const path = `/v1/${segment}/marketplace`;
  const common = { kinds: [{ method: 'GET', path, status: 200 }], vertical } as const;
  return [
    {
      ...common,
      name: `${segment}-known`,
      title: `GET /marketplace of ${segment}, 5 offers, cached ranking`,
      targets: {},
      singleUse: false,
      prepareRequests: async (stage) => {
        const known = stage.state.get('requests') as PreparedRequest[] | undefined;
        if (known !== undefined) return known;
        const sessions = await createFullSessions(stage, population, Math.min(sessionsMax, stage.roundRequests));
        const load = assignApiKeys(
          stage,
          stage.keys.map((_, at) => offersRequest(segment, sessions[at % sessions.length]!)),
        );
        stage.state.set('requests', load);
        return load;
      },
    },
    {
      ...common,
      name: `${segment}-unknown`,
      title: `GET /marketplace of ${segment}, 5 of 200 offers, new ranking`,
      targets: {},
      singleUse: true,
      catalogOffers: 200,
      prepareRequests: async (stage, round) => {
        const sessions =
          (stage.state.get('sessions') as VisitorSession[] | undefined) ??
          (await createFullSessions(stage, population, stage.roundRequests));
        stage.state.set('sessions', sessions);
        const used = sessions.slice(0, stage.roundRequests);
        // A changed field removes the cached ranking of its session. These requests are not measured.
        const changes = used.map((session) =>
          inputsRequest(segment, session, { [changedField]: Number(session.fields[changedField]) + 1 + round }),
        );
        await stage.caller.sendRequests(changes, 200);
        return used.map((session) => offersRequest(segment, session));
      },
    },
  ];
}

function offersRequest(segment: string, { subId, key }: VisitorSession): PreparedRequest {
  const query = `sub_id=${subId}&format=json&max_offers=${offersRequested}`;
  return { method: 'GET', path: `/v1/${segment}/marketplace?${query}`, key };
}

function inputsRequest(segment: string, { subId, key }: VisitorSession, fields: object): PreparedRequest {
  return { method: 'POST', path: `/v1/${segment}/inputs`, key, body: JSON.stringify({ sub_id: subId, fields }) };
}

/** Creates sessions of random visitors who match at least five offers. The same seed gives the same visitors. */
async function createFullSessions(
  stage: ScenarioContext,
  { vertical: { segment }, createVisitor }: VisitorPopulation,
  count: number,
): Promise<VisitorSession[]> {
  const random = seededRandom(19);
  const full: VisitorSession[] = [];
  for (let batch = 0; full.length < count; batch++) {
    if (batch === 10) throw new Error('too few visitors match five offers of this catalog');
    const keys = Array.from({ length: count }, () => stage.nextApiKey());
    const created = await stage.caller.sendRequests(
      keys.map((key) => ({ method: 'POST', path: `/v1/${segment}/session`, key, body: '{"referrer_tag":"bench"}' })),
      200,
    );
    const sessions = created.map(({ body }, at) => ({
      subId: (JSON.parse(body) as { sub_id: string }).sub_id,
      key: keys[at]!,
      fields: createVisitor(random),
    }));
    await stage.caller.sendRequests(
      sessions.map((session) => inputsRequest(segment, session, session.fields)),
      200,
    );
    const answers = await stage.caller.sendRequests(
      sessions.map((session) => offersRequest(segment, session)),
      200,
    );
    full.push(
      ...sessions.filter(
        (_, at) => (JSON.parse(answers[at]!.body) as MarketplaceResponse).offers.length === offersRequested,
      ),
    );
  }
  return full.slice(0, count);
}

export const verticalScenarios: readonly Scenario[] = visitorPopulations.flatMap(createVerticalScenarios);
