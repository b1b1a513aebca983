/** A limit under more load than it lets through, from many connections at once. */
export interface LimitResult {
  /** e.g. `requests-per-minute`. */
  readonly name: string;
  readonly title: string;
  readonly limit: number;
  readonly connections: number;
  readonly attempted: number;
  readonly admitted: number;
  /** Answers 429. */
  readonly refused: number;
  /** Answers that were neither, which there must be none of. */
  readonly other: number;
  /** What had to be admitted; `admitted` is this very number, or the limit is not exact. */
  readonly expected: number;
  /** CPU time of the server, all threads, for one refusal and for one admitted request. Microseconds. */
  readonly refusalCpuMicros: number | null;
  readonly admittedCpuMicros: number | null;
  /** Refusals answered a second. */
  readonly refusalsPerSecond: number;
  /** Whether the client gave first: then the service could have refused more. */
  readonly clientSaturated?: boolean;
}
