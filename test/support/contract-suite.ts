import { after, before, describe } from 'node:test';
import { type Engine, engines, RunningMarketplace, type StartOptions } from './running-marketplace.ts';
import type { VerticalFixture } from './vertical-fixture.ts';
import { allFixtures, personalLoansFixture } from './vertical-fixtures.ts';

/** A service under test and one of its verticals. */
export interface ServiceUnderTest {
  readonly engine: Engine;
  readonly fixture: VerticalFixture;
  /** The running service. Available only while a test runs. */
  readonly market: RunningMarketplace;
}

type DeclareTests = (service: ServiceUnderTest) => void;

/** Declares the same tests for every vertical. All verticals use one service. */
export function describeEveryVertical(subject: string, declare: DeclareTests, options: StartOptions = {}): void {
  describeVerticals(allFixtures, subject, declare, options);
}

/** Declares tests for personal loans only, for behavior that does not depend on the vertical. */
export function describePersonalLoans(subject: string, declare: DeclareTests, options: StartOptions = {}): void {
  describeVerticals([personalLoansFixture], subject, declare, options);
}

function describeVerticals(
  fixtures: readonly VerticalFixture[],
  subject: string,
  declare: DeclareTests,
  options: StartOptions,
): void {
  const declareAll = ({ engine, running }: { readonly engine: Engine; readonly running: () => RunningMarketplace }) => {
    for (const fixture of fixtures) {
      describe(fixture.vertical.segment, () => {
        declare({
          engine,
          fixture,
          get market() {
            return running();
          },
        });
      });
    }
  };
  describeService(subject, declareAll, options);
}

/** Declares tests that use one service and no particular vertical. */
export function describeService(
  subject: string,
  declare: (on: { readonly engine: Engine; readonly running: () => RunningMarketplace }) => void,
  options: StartOptions = {},
): void {
  for (const engine of engines) {
    describe(subject, () => {
      let market: RunningMarketplace | undefined;
      before(async () => {
        market = await RunningMarketplace.start(engine, options);
      });
      after(() => market?.close());
      declare({
        engine,
        running: () => {
          if (market === undefined) throw new Error('the service is available only while a test runs');
          return market;
        },
      });
    });
  }
}
