import { after, before, describe } from 'node:test';
import type { ApiCaller } from './api-caller.ts';
import { type ApiKeyOptions, type Engine, RunningMarketplace, type StartOptions } from './running-marketplace.ts';
import type { VerticalFixture } from './vertical-fixture.ts';
import { allFixtures, personalLoansFixture } from './vertical-fixtures.ts';

/** A service under test and one of its verticals. */
export interface ServiceUnderTest {
  readonly fixture: VerticalFixture;
  /** The running service. Available only while a test runs. */
  readonly market: RunningMarketplace;
  /** Returns a caller with a new key of the vertical. */
  caller(wanted?: ApiKeyOptions): ApiCaller;
}

type DeclareTests = (service: ServiceUnderTest) => void;

/** Declares the same tests for every vertical, or for the given verticals. All verticals use one service. */
export function describeEveryVertical(
  subject: string,
  declare: DeclareTests,
  options: StartOptions = {},
  fixtures: readonly VerticalFixture[] = allFixtures,
): void {
  const declareAll = ({ running }: { readonly running: () => RunningMarketplace }) => {
    for (const fixture of fixtures) {
      describe(fixture.vertical.segment, () => {
        declare({
          fixture,
          get market() {
            return running();
          },
          caller: (wanted) => running().caller(fixture, wanted),
        });
      });
    }
  };
  describeService(subject, declareAll, options);
}

/** Declares tests for personal loans only, for behavior that does not depend on the vertical. */
export function describePersonalLoans(subject: string, declare: DeclareTests, options: StartOptions = {}): void {
  describeEveryVertical(subject, declare, options, [personalLoansFixture]);
}

type DeclareServiceTests = (on: { readonly running: () => RunningMarketplace }) => void;

/** Declares the same tests for each engine, with one service per engine. */
export function describeServiceOnEveryEngine(
  subject: string,
  declare: DeclareServiceTests,
  options: StartOptions = {},
): void {
  for (const engine of ['uws', 'node'] as const) describeService(`${subject} on ${engine}`, declare, options, engine);
}

/** Declares tests that use one service, by default on the native engine, and no particular vertical. */
export function describeService(
  subject: string,
  declare: DeclareServiceTests,
  options: StartOptions = {},
  engine: Engine = 'uws',
): void {
  describe(subject, () => {
    let market: RunningMarketplace | undefined;
    before(async () => {
      market = await RunningMarketplace.start(engine, options);
    });
    after(() => market?.close());
    declare({
      running: () => {
        if (market === undefined) throw new Error('the service is available only while a test runs');
        return market;
      },
    });
  });
}
