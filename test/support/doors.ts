import { after, before, describe } from 'node:test';
import { type Engine, engines, RunningMarketplace, type StartOptions } from './running-marketplace.ts';
import type { VerticalFixture } from './vertical-fixture.ts';
import { allFixtures } from './vertical-fixtures.ts';

/** One way into the service: an HTTP engine, and a vertical served on it. */
export interface Door {
  readonly engine: Engine;
  readonly fixture: VerticalFixture;
  /** To be asked for inside a test, when it runs. */
  readonly market: RunningMarketplace;
}

/** Declares the same tests for every engine and vertical, on one marketplace for each engine. */
export function atEveryDoor(subject: string, declare: (door: Door) => void, options: StartOptions = {}): void {
  onEveryEngine(
    subject,
    ({ engine, running }) => {
      for (const fixture of allFixtures) {
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

/** Declares tests in which the vertical plays no part, for every engine. */
export function onEveryEngine(
  subject: string,
  declare: (on: { readonly engine: Engine; readonly running: () => RunningMarketplace }) => void,
  options: StartOptions = {},
): void {
  for (const engine of engines) {
    describe(`${subject}, on ${engine}`, () => {
      let market: RunningMarketplace | undefined;
      before(async () => {
        market = await RunningMarketplace.start(engine, options);
      });
      after(() => market?.close());
      declare({
        engine,
        running: () => {
          if (market === undefined)
            throw new Error('the marketplace runs while tests run, not while they are declared');
          return market;
        },
      });
    });
  }
}
