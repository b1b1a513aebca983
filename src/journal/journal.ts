/**
 * Interface of the journal, which stores the pocket fields of live sessions, so that a restart can restore the fields
 * (docs/contract.md#journal).
 */
export interface SessionJournal {
  /**
   * Appends the field changes of one request. Resolves when the changes are durable.
   *
   * @param sub the 32 bytes of the sub_id, which are copied before the call returns
   * @param changes field index, value, field index, value, ...
   * @throws LogUnavailableError if the journal refuses the changes or cannot write them in time
   */
  append(sub: Uint8Array, changes: readonly number[]): Promise<void>;
  /** `healthy` is false from a failed write until the next successful write. While `healthy` is false, the service is not ready. */
  readonly healthy: boolean;
}
