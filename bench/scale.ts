/** How large a run is. */
export interface BenchScale {
  /** Measured rounds; one more, not counted, warms the servers up. */
  readonly rounds: number;
  /** Length of one load. */
  readonly seconds: number;
  readonly connections: number;
  /** Requests of a round whose requests are sent once only. */
  readonly roundRequests: number;
  /** API keys the requests are spread over, each with its default limits. */
  readonly keys: number;
  /** Sessions of the history that is read back and counted (`history/`). */
  readonly historySessions: number;
  /** The most live sessions a curve goes to. */
  readonly liveSessions: number;
}

export const fullScale: BenchScale = {
  rounds: 5,
  seconds: 2,
  connections: 64,
  roundRequests: 20_000,
  keys: 12_000,
  historySessions: 1_000_000,
  liveSessions: 1_000_000,
};

/** Ends within two minutes. */
export const quickScale: BenchScale = {
  rounds: 1,
  seconds: 0.3,
  connections: 64,
  roundRequests: 3_000,
  keys: 2_000,
  historySessions: 10_000,
  liveSessions: 10_000,
};
