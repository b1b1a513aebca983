import { connect, type Socket } from 'node:net';
import { ResponseParser } from './answer-parser.ts';

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
