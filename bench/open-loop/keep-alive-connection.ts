import { connect, type Socket } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');
const headBytesMax = 64 * 1024;

/**
 * Parses HTTP/1.1 responses that arrive in chunks of any size: reads the status, and finds the end of each response. Responses must have a
 * Content-Length or no body, like all responses of the measured servers.
 */
export class ResponseParser {
  /** First bytes of a response head that is not yet complete. */
  #head: Buffer | null = null;
  #status = 0;
  #bodyBytesLeft = 0;
  #inBody = false;
  #closesConnection = false;

  /**
   * @param onResponse called with the status of each complete response, and whether the server closes the connection
   * @throws if the data is malformed; the parser cannot be used afterwards
   */
  parseChunk(chunk: Buffer, onAnswer: (status: number, closes: boolean) => void): void {
    let at = 0;
    while (at < chunk.length || (this.#inBody && this.#bodyBytesLeft === 0)) {
      if (!this.#inBody) {
        const next = this.#parseHeadIfComplete(chunk, at);
        if (next === null) return;
        at = next;
      }
      const taken = Math.min(this.#bodyBytesLeft, chunk.length - at);
      this.#bodyBytesLeft -= taken;
      at += taken;
      if (this.#bodyBytesLeft > 0) return;
      this.#inBody = false;
      onAnswer(this.#status, this.#closesConnection);
    }
  }

  /** Returns the offset of the body in this chunk, or null if the head is incomplete. */
  #parseHeadIfComplete(chunk: Buffer, at: number): number | null {
    const earlier = this.#head;
    const bytes = earlier === null ? chunk : Buffer.concat([earlier, chunk.subarray(at)]);
    const start = earlier === null ? at : 0;
    const end = bytes.indexOf(headEnd, start);
    if (end < 0) {
      if (bytes.length - start > headBytesMax) throw new Error('response head too long');
      this.#head = Buffer.from(bytes.subarray(start));
      return null;
    }
    this.#head = null;
    this.#parseResponseHead(bytes.toString('latin1', start, end + 2));
    const bodyStart = end + headEnd.length;
    return earlier === null ? bodyStart : at + bodyStart - earlier.length;
  }

  /** @param head including the last line break */
  #parseResponseHead(head: string): void {
    const status = /^HTTP\/1\.1 (\d{3})[ \r]/.exec(head)?.[1];
    if (status === undefined) throw new Error('no status line');
    this.#status = Number(status);
    if (this.#status < 200) throw new Error('unexpected informational response');
    const length = /\r\ncontent-length: *(\d+) *\r\n/i.exec(head)?.[1];
    const hasBody = this.#status !== 204 && this.#status !== 304;
    if (length === undefined && hasBody) throw new Error('no Content-Length');
    this.#bodyBytesLeft = hasBody ? Number(length) : 0;
    this.#closesConnection = /\r\nconnection: *close *\r\n/i.test(head);
    this.#inBody = true;
  }
}

/** Events of a connection. Every accepted request causes exactly one event: its response, or the loss of the connection. */
export interface ConnectionEvents {
  onResponse(status: number): void;
  /** Called if the pending request gets no valid response, because the connection is lost or the received data is malformed. */
  onRequestFailed(): void;
  /** Called when the connection is ready for a request: after it has opened, and after each response. */
  onIdle(): void;
}

/** Delay before a connection is reopened after a failure. */
const reopenMs = 50;

/** Keep-alive connection with at most one pending request. A closed connection is reopened automatically. */
export class KeepAliveConnection {
  readonly #port: number;
  readonly #events: ConnectionEvents;
  #socket!: Socket;
  #parser!: ResponseParser;
  #open = false;
  #inFlight = false;
  #ended = false;

  constructor(port: number, events: ConnectionEvents) {
    this.#port = port;
    this.#events = events;
    this.#connect();
  }

  /** Whether the connection is open and has no pending request. */
  get isIdle(): boolean {
    return this.#open && !this.#inFlight;
  }

  send(bytes: Buffer): void {
    this.#inFlight = true;
    this.#socket.write(bytes);
  }

  /** Abandons the pending request and opens a new connection. */
  abandonPendingRequest(): void {
    this.#inFlight = false;
    this.#open = false;
    this.#socket.destroy();
  }

  end(): void {
    this.#ended = true;
    this.#socket.destroy();
  }

  #connect(): void {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    this.#socket = socket;
    this.#parser = new ResponseParser();
    const isCurrent = () => this.#socket === socket && !this.#ended;
    socket.on('connect', () => {
      if (!isCurrent()) return;
      this.#open = true;
      this.#events.onIdle();
    });
    socket.on('data', (chunk) => {
      if (!isCurrent() || !this.#open) return;
      try {
        this.#parser.parseChunk(chunk, (status, closes) => this.#handleResponse(status, closes));
      } catch {
        this.#handleConnectionLoss();
        this.#socket.destroy();
      }
    });
    // Ignores socket errors, because the `close` event follows each error and counts the pending request as lost.
    socket.on('error', () => {});
    socket.on('close', () => {
      if (!isCurrent()) return;
      this.#handleConnectionLoss();
      setTimeout(() => {
        if (isCurrent()) this.#connect();
      }, reopenMs);
    });
  }

  #handleResponse(status: number, closes: boolean): void {
    // After an unexpected response, later responses could be assigned to wrong requests.
    if (!this.#inFlight) throw new Error('response without a request');
    this.#inFlight = false;
    if (closes) {
      this.#open = false;
      this.#socket.destroy();
    }
    this.#events.onResponse(status);
    if (this.isIdle) this.#events.onIdle();
  }

  #handleConnectionLoss(): void {
    this.#open = false;
    if (!this.#inFlight) return;
    this.#inFlight = false;
    this.#events.onRequestFailed();
  }
}
