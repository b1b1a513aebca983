/** What broke while the service ran and was put right again, counted since its start. */
export interface Repairs {
  /** Matching threads that died, or could not start, and were replaced. */
  matcherFaults: number;
  /** Times that the aggregator's thread died and was started again. */
  aggregatorRestarts: number;
}
