import type { BaselineKind, Measurement, ServerKind } from './measurement.ts';

/** One route under the same load on every server, round after round, in turn. */
export interface RouteResult {
  /** What `--only` takes, e.g. `session`. */
  readonly name: string;
  readonly title: string;
  readonly client: 'autocannon' | 'wrk';
  /** Size of the baselines' body: the middle size of the service's. */
  readonly bodyBytes: number;
  /** Throughput over a baseline's that the project aims at, at least. */
  readonly targets: readonly { readonly over: BaselineKind; readonly ratio: number }[];
  /** As many rounds for each; those of one place were measured one right after the other. */
  readonly servers: readonly { readonly kind: ServerKind; readonly rounds: readonly Measurement[] }[];
  /** Whether the client, not the fastest server, was what gave first: then that throughput ratio is too high. */
  readonly clientSaturated: boolean;
}
