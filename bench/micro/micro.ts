/** One hot function, timed alone. Lies under `bench/micro` where the function lies under `src`. */
export interface Micro {
  readonly name: string;
  /** Makes what the function needs; not timed. */
  prepare(): Prepared | Promise<Prepared>;
}

export interface Prepared {
  /** How many calls of the function one `run` makes: many, since one call is shorter than a look at the clock. */
  readonly calls: number;
  /** What it returns must depend on every call, so that none can be optimised away. A promise is waited for. */
  run(): unknown;
  close?(): void | Promise<void>;
}

export interface MicroResult {
  readonly name: string;
  /** Of one call, over samples of `calls` calls each. */
  readonly medianNs: number;
  readonly p99Ns: number;
}
