/**
 * Tells queued work whether its result is still wanted: `over` becomes true when the request was aborted or answered, by its
 * deadline's 503 for example. An `Exchange` is one, so a request allocates nothing for it.
 */
export interface CancelSignal {
  readonly ended: boolean;
}
