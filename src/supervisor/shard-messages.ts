import process from 'node:process';

/**
 * Message from the supervisor to a shard: print the lines of a start, reload catalog and certificate, drain and exit, or exit at once with
 * code 1.
 */
export type SupervisorMessage =
  | { readonly kind: 'announce'; readonly operationsPort: number }
  | { readonly kind: 'reload' | 'stop' | 'exit' };

/** Message from a shard to the supervisor: the shard accepts requests, or its start failed. */
export type ShardMessage =
  | { readonly kind: 'started' }
  | { readonly kind: 'failed'; readonly message: string; readonly exitCode: number };

/** Connection of a shard to its supervisor. */
export interface SupervisorChannel {
  /** Resolves when the message is sent, or the supervisor has ended. */
  send(message: ShardMessage): Promise<void>;
  /** Closes the connection, which otherwise keeps the process alive. */
  close(): void;
}

/**
 * Connects to the supervisor that started this process. Returns null if no supervisor did. Calls `onMessage` with each message, and with
 * `stop` if the supervisor has ended.
 */
export function connectToSupervisor(onMessage: (message: SupervisorMessage) => void): SupervisorChannel | null {
  if (process.send === undefined) return null;
  const handleDisconnect = () => onMessage({ kind: 'stop' });
  process.on('message', onMessage);
  process.once('disconnect', handleDisconnect);
  if (!process.connected) setImmediate(handleDisconnect);
  return {
    send: (message) =>
      new Promise((resolve) => {
        // An error means that the supervisor has ended, which the event `disconnect` reports.
        if (process.connected) process.send?.(message, undefined, {}, () => resolve());
        else resolve();
      }),
    close() {
      process.off('message', onMessage);
      process.off('disconnect', handleDisconnect);
      if (process.connected) process.disconnect();
    },
  };
}
