import type { ChildProcess } from 'node:child_process';
import type { Logger } from 'pino';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import type { ShardMessage, SupervisorMessage } from './shard-messages.ts';

export interface ShardProcessOptions {
  readonly number: number;
  /** Starts the process, with a channel for messages. */
  readonly spawn: (shard: number) => ChildProcess;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** End of a shard before its first service. `message` is null if the process ended without a message. */
export interface StartFailure {
  readonly message: string | null;
  readonly exitCode: number;
}

type ShardState = 'starting' | 'serving' | 'waiting' | 'stopping' | 'ended';

/**
 * Process of one shard. A process that ends after the first service is started again, after a delay that doubles until the shard has served
 * for a while.
 *
 *     starting ──started──> serving ──ended──> waiting ──delay──> starting ...
 *        └─ended before the first service─> ended
 *     every state ──stop──> stopping ──ended──> ended
 */
export class ShardProcess {
  readonly number: number;
  readonly #options: ShardProcessOptions;
  #state: ShardState = 'starting';
  #child: ChildProcess | null = null;
  #restartTimer: NodeJS.Timeout | undefined;
  #restartDelayMs: number = bounds.shardRestartDelayMinMs;
  #servingSinceMs = 0;
  #restarts = 0;
  readonly #firstStart = Promise.withResolvers<StartFailure | null>();
  readonly #ended = Promise.withResolvers<number>();
  #hasServed = false;

  constructor(options: ShardProcessOptions) {
    this.#options = options;
    this.number = options.number;
  }

  get state(): ShardState {
    return this.#state;
  }

  /** Number of times that the process was started again. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Starts the process. Resolves to null when it accepts requests, and to a failure if it ends before. */
  start(): Promise<StartFailure | null> {
    this.#spawn();
    return this.#firstStart.promise;
  }

  send(message: SupervisorMessage): void {
    // An error means that the process has ended, which the event `exit` reports.
    if (this.#child?.connected) this.#child.send(message, () => {});
  }

  /** Drains the process. Resolves to its exit code, which is 1 if a signal killed it. Idempotent. */
  stop(): Promise<number> {
    if (this.#state === 'stopping' || this.#state === 'ended') return this.#ended.promise;
    clearTimeout(this.#restartTimer);
    if (this.#child === null) this.#end(0);
    else {
      this.#state = 'stopping';
      this.send({ kind: 'stop' });
    }
    return this.#ended.promise;
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  #spawn(): void {
    this.#state = 'starting';
    const child = this.#options.spawn(this.number);
    this.#child = child;
    let failure: Extract<ShardMessage, { kind: 'failed' }> | null = null;
    child.on('message', (message: ShardMessage) => {
      if (message.kind === 'failed') failure = message;
      else this.#onStarted();
    });
    let hasEnded = false;
    const end = (code: number | null, signal: string | null, reason: string | null) => {
      if (hasEnded) return;
      hasEnded = true;
      this.#onEnd(failure?.exitCode ?? code ?? 1, signal, reason ?? failure?.message ?? null);
    };
    child.once('exit', (code, signal) => end(code, signal, null));
    child.once('error', ({ message }) => end(1, null, message));
  }

  #onStarted(): void {
    if (this.#state === 'starting') this.#state = 'serving';
    this.#hasServed = true;
    this.#servingSinceMs = this.#options.clock.monotonicMs();
    this.#firstStart.resolve(null);
  }

  #onEnd(exitCode: number, signal: string | null, reason: string | null): void {
    const { clock, logger } = this.#options;
    this.#child = null;
    const wasServing = this.#state === 'serving';
    if (this.#state === 'stopping' || !this.#hasServed) {
      this.#end(exitCode);
      this.#firstStart.resolve({ message: reason, exitCode });
      return;
    }
    const isStable = wasServing && clock.monotonicMs() - this.#servingSinceMs >= bounds.shardStableMs;
    const delayMs = isStable ? bounds.shardRestartDelayMinMs : this.#restartDelayMs;
    this.#restartDelayMs = Math.min(2 * delayMs, bounds.shardRestartDelayMaxMs);
    this.#restarts += 1;
    this.#state = 'waiting';
    logger.error({ shard: this.number, exitCode, signal, reason, restartInMs: delayMs }, 'shard ended; restarting');
    this.#restartTimer = setTimeout(() => this.#spawn(), delayMs);
  }

  #end(exitCode: number): void {
    this.#state = 'ended';
    this.#ended.resolve(exitCode);
  }
}
