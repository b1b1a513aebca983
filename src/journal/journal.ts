/** Port of the journal: stores the pocket fields of live sessions, so that they survive a restart (docs/contract.md#journal). */
export interface Journal {
  /**
   * Appends the field changes of one request. Resolves when they are durable.
   *
   * @param sub 32 bytes of the sub_id, copied before the call returns
   * @param changes field index, value, field index, value, ...
   * @throws LogUnavailableError when the journal refuses the changes, or could not write them in time.
   */
  append(sub: Uint8Array, changes: readonly number[]): Promise<void>;
  /** False from a failed write until the journal can be written again. The service is not ready meanwhile. */
  readonly healthy: boolean;
}
