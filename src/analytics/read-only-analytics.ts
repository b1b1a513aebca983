import type { Analytics } from './analytics.ts';
import { openAnalyticsDatabaseReadOnly } from './analytics-database.ts';
import { readDailyAnalytics, readSummary } from './cohort-reader.ts';
import { createResultsReader } from './experiments/experiment-results-reader.ts';
import { checkDefinition, findExperiment, listExperiments } from './experiments/experiment-table.ts';
import { readExperimentUnits } from './experiments/experiment-units-reader.ts';
import { readOfferTotals } from './offer-totals.ts';
import { readOffers } from './offers-reader.ts';
import { readSessionRows } from './rows-reader.ts';
import type { SqlDatabase } from './sql-database.ts';
import { countTags, readTags } from './tags-reader.ts';

/** Reads a store to which another process may be writing. A query includes all records that were applied before the query. */
export class ReadOnlyAnalytics implements Analytics {
  readonly healthy = true;
  readonly #database: SqlDatabase;
  /** Position of the last ledger record that the last query included; 0 before the first query. */
  appliedPosition = 0;
  readonly getSummary = this.#createQuery(readSummary);
  readonly listDailyAnalytics = this.#createQuery(readDailyAnalytics);
  readonly listSessions = this.#createQuery(readSessionRows);
  readonly listOffers = this.#createQuery(readOffers);
  readonly listOfferTotals = this.#createQuery(readOfferTotals);
  readonly listTags = this.#createQuery(readTags);
  readonly findExperiment = this.#createQuery(findExperiment);
  readonly checkDefinition = this.#createQuery(checkDefinition);
  readonly listExperiments = this.#createQuery(listExperiments);
  readonly getExperimentResults = this.#createQuery(createResultsReader());
  readonly listExperimentUnits = this.#createQuery(readExperimentUnits);
  readonly countReferrerTags = this.#createQuery(countTags);

  /** Opens the file. Throws `StoreVersionMismatchError` or an SQLite error. */
  constructor(file: string) {
    this.#database = openAnalyticsDatabaseReadOnly(file);
  }

  /** Closes the file. Repeated calls have no effect. */
  async close(): Promise<void> {
    this.#database.close();
  }

  /** Creates a query that runs `read` and reads the position of its result in one transaction. */
  #createQuery<Parameters extends unknown[], Result>(
    read: (database: SqlDatabase, ...parameters: Parameters) => Result,
  ): (...parameters: Parameters) => Promise<Result> {
    return async (...parameters) =>
      this.#database.read(() => {
        this.appliedPosition = this.#database.value<number>('SELECT position FROM progress') ?? 0;
        return read(this.#database, ...parameters);
      });
  }
}
