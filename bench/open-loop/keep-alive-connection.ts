import { connect, type Socket } from 'node:net';

const headEnd = Buffer.from('\r\n\r\n');
const headBytesMax = 64 * 1024;

/** What came over a connection is no answer that this client can read. */
export class MalformedResponse extends Error {
  override readonly name = 'UnreadableAnswer';
}

/**
 * Finds the answers in what a connection brings, however it is cut: their status, and where they end. Reads HTTP/1.1 with
 * Content-Length, or without a body, and nothing else: the servers under load answer no other way.
 */
export class ResponseParser {
  /** The beginning of a head whose end has not come. */
  #head: Buffer | null = null;
  #status = 0;
  #bodyBytesLeft = 0;
  #inBody = false;
  #closesConnection = false;

  /**
   * @param onResponse called with the status of each answer that is complete, and whether the server ends the connection with it
   * @throws MalformedResponse after which this parser is of no use any more
   */
  push(chunk: Buffer, onAnswer: (status: number, closes: boolean) => void): void {
    let at = 0;
    while (at < chunk.length || (this.#inBody && this.#bodyBytesLeft === 0)) {
      if (!this.#inBody) {
        const next = this.#readHead(chunk, at);
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

  /** Where the body begins in this chunk; null when the head goes on in the next one. */
  #readHead(chunk: Buffer, at: number): number | null {
    const earlier = this.#head;
    const bytes = earlier === null ? chunk : Buffer.concat([earlier, chunk.subarray(at)]);
    const start = earlier === null ? at : 0;
    const end = bytes.indexOf(headEnd, start);
    if (end < 0) {
      if (bytes.length - start > headBytesMax) throw new MalformedResponse('a head without an end');
      this.#head = Buffer.from(bytes.subarray(start));
      return null;
    }
    this.#head = null;
    this.#parseHead(bytes.toString('latin1', start, end + 2));
    const bodyStart = end + headEnd.length;
    return earlier === null ? bodyStart : at + bodyStart - earlier.length;
  }

  /** @param head with the line break behind its last line */
  #parseHead(head: string): void {
    const status = /^HTTP\/1\.1 (\d{3})[ \r]/.exec(head)?.[1];
    if (status === undefined) throw new MalformedResponse('no status line');
    this.#status = Number(status);
    if (this.#status < 200) throw new MalformedResponse('an answer before the answer');
    const length = /\r\ncontent-length: *(\d+) *\r\n/i.exec(head)?.[1];
    const hasBody = this.#status !== 204 && this.#status !== 304;
    if (length === undefined && hasBody) throw new MalformedResponse('no Content-Length');
    this.#bodyBytesLeft = hasBody ? Number(length) : 0;
    this.#closesConnection = /\r\nconnection: *close *\r\n/i.test(head);
    this.#inBody = true;
  }
}

/** What a connection tells whoever sends over it. Each request it took ends in exactly one of the first two. */
export interface ConnectionEvents {
  onResponse(status: number): void;
  /** Broken, closed, or unreadable, with a request under way. */
  onLost(): void;
  /** It can take a request. Also after it has answered one. */
  onIdle(): void;
}

/** How long after a failure a connection is opened again. */
const reopenMs = 50;

/** One keep-alive connection with at most one request under way. It opens itself again whenever it has been closed. */
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

  /** Whether it can take a request. */
  get isFree(): boolean {
    return this.#open && !this.#inFlight;
  }

  send(bytes: Buffer): void {
    this.#inFlight = true;
    this.#socket.write(bytes);
  }

  /** Forgets the request under way, and goes on with a new connection, over which its answer cannot come any more. */
  abandon(): void {
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
        this.#parser.push(chunk, (status, closes) => this.#handleResponse(status, closes));
      } catch {
        this.#handleLoss();
        this.#socket.destroy();
      }
    });
    // What is wrong with it is of no interest: it is lost, and counted as such.
    socket.on('error', () => {});
    socket.on('close', () => {
      if (!isCurrent()) return;
      this.#handleLoss();
      setTimeout(() => {
        if (isCurrent()) this.#connect();
      }, reopenMs);
    });
  }

  #handleResponse(status: number, closes: boolean): void {
    // An answer nobody asked for: whatever comes next could not be told from the answer to the next request.
    if (!this.#inFlight) throw new Error('an answer without a request');
    this.#inFlight = false;
    if (closes) {
      this.#open = false;
      this.#socket.destroy();
    }
    this.#events.onResponse(status);
    if (this.isFree) this.#events.onIdle();
  }

  #handleLoss(): void {
    this.#open = false;
    if (!this.#inFlight) return;
    this.#inFlight = false;
    this.#events.onLost();
  }
}
