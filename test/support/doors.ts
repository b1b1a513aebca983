import { after, before, describe } from 'node:test';
import { personalLoansFixture } from './personal-loans-fixture.ts';
import { type Engine, engines, RunningMarketplace, type StartOptions } from './running-marketplace.ts';
import type { VerticalFixture } from './vertical-fixture.ts';
import { allFixtures } from './vertical-fixtures.ts';

/** A service under test and one of its verticals. */
export interface Door {
  readonly engine: Engine;
  readonly fixture: VerticalFixture;
  /** The running service. Available only while a test runs. */
  readonly market: RunningMarketplace;
}

/** Declares the same tests for every vertical. All verticals use one service. */
export function atEveryDoor(subject: string, declare: (door: Door) => void, options: StartOptions = {}): void {
  declareFor(allFixtures, subject, declare, options);
}

/** Declares tests for personal loans only, for behavior that does not depend on the vertical. */
export function onPersonalLoans(subject: string, declare: (door: Door) => void, options: StartOptions = {}): void {
  declareFor([personalLoansFixture], subject, declare, options);
}

function declareFor(
  fixtures: readonly VerticalFixture[],
  subject: string,
  declare: (door: Door) => void,
  options: StartOptions,
): void {
  onEveryEngine(
    subject,
    ({ engine, running }) => {
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
    },
    options,
  );
}

/** Declares tests that use one service and no particular vertical. */
export function onEveryEngine(
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
