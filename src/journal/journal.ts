/**
 * The journal port: the pocket fields of live sessions, so that they survive a restart (docs/contract.md#journal). What is appended
 * here is read back when the service opens, as long as its session can still be live.
 */
export interface Journal {
  /**
   * Appends the changes of one merge (position, value, position, value); the promise settles when they are durable. Rejects
   * with `LogUnavailableError` as the log does.
   *
   * @param sub the session's 32 bytes, copied before the call returns
   */
  append(sub: Uint8Array, changes: readonly number[]): Promise<void>;
  /** False from a failed write or sync until the journal works again: readiness goes red. */
  readonly healthy: boolean;
}
