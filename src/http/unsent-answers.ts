import { bounds } from '../bounds.ts';

/** An answer that its client has not taken yet. */
export interface UnsentReply {
  /** Closes the connection. */
  closeConnection(): void;
}

/**
 * The answers of a listener that wait for their clients to read, and a bound on what they hold together. Beyond it the connection
 * that has made no progress for the longest is closed.
 */
export class UnsentReplies {
  /** With the bytes each holds; the one that waits longest comes first. */
  private readonly bytesByReply = new Map<UnsentReply, number>();
  private bytes = 0;

  /** Adds an answer, or updates one that has made progress. It may be disconnected before this returns. */
  add(answer: UnsentReply, bodyBytes: number): void {
    this.remove(answer);
    const bytes = bodyBytes + bounds.engineBufferBytesPerConnection;
    this.bytesByReply.set(answer, bytes);
    this.bytes += bytes;
    while (this.bytes > bounds.unsentReplyBytesMax) {
      const [longest] = this.bytesByReply.keys();
      if (longest === undefined) return;
      this.remove(longest);
      longest.closeConnection();
    }
  }

  /** Does nothing to an answer that is not here. */
  remove(answer: UnsentReply): void {
    this.bytes -= this.bytesByReply.get(answer) ?? 0;
    this.bytesByReply.delete(answer);
  }
}
