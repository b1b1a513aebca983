import { bounds } from '../bounds.ts';

/** An answer that its client has not taken yet. */
export interface UnsentAnswer {
  /** Closes the connection. */
  disconnect(): void;
}

/**
 * The answers of a listener that wait for their clients to read, and a bound on what they hold together. Beyond it the connection
 * that has made no progress for the longest is closed.
 */
export class UnsentAnswers {
  /** With the bytes each holds; the one that waits longest comes first. */
  private readonly waiting = new Map<UnsentAnswer, number>();
  private bytes = 0;

  /** Adds an answer, or updates one that has made progress. It may be disconnected before this returns. */
  add(answer: UnsentAnswer, bodyBytes: number): void {
    this.remove(answer);
    const bytes = bodyBytes + bounds.unsentConnectionBytes;
    this.waiting.set(answer, bytes);
    this.bytes += bytes;
    while (this.bytes > bounds.unsentBytesMax) {
      const [longest] = this.waiting.keys();
      if (longest === undefined) return;
      this.remove(longest);
      longest.disconnect();
    }
  }

  /** Does nothing to an answer that is not here. */
  remove(answer: UnsentAnswer): void {
    this.bytes -= this.waiting.get(answer) ?? 0;
    this.waiting.delete(answer);
  }
}
