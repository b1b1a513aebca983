import { connect, type Socket } from 'node:net';
import { AnswerParser } from './answer-parser.ts';

/** What a connection tells whoever sends over it. Each request it took ends in exactly one of the first two. */
export interface ConnectionEvents {
  onAnswer(status: number): void;
  /** Broken, closed, or unreadable, with a request under way. */
  onLost(): void;
  /** It can take a request. Also after it has answered one. */
  onFree(): void;
}

/** How long after a failure a connection is opened again. */
const reopenMs = 50;

/** One keep-alive connection with at most one request under way. It opens itself again whenever it has been closed. */
export class KeepAliveConnection {
  readonly #port: number;
  readonly #events: ConnectionEvents;
  #socket!: Socket;
  #parser!: AnswerParser;
  #open = false;
  #underWay = false;
  #ended = false;

  constructor(port: number, events: ConnectionEvents) {
    this.#port = port;
    this.#events = events;
    this.#connect();
  }

  /** Whether it can take a request. */
  get isFree(): boolean {
    return this.#open && !this.#underWay;
  }

  send(bytes: Buffer): void {
    this.#underWay = true;
    this.#socket.write(bytes);
  }

  /** Forgets the request under way, and goes on with a new connection, over which its answer cannot come any more. */
  abandon(): void {
    this.#underWay = false;
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
    this.#parser = new AnswerParser();
    const isCurrent = () => this.#socket === socket && !this.#ended;
    socket.on('connect', () => {
      if (!isCurrent()) return;
      this.#open = true;
      this.#events.onFree();
    });
    socket.on('data', (chunk) => {
      if (!isCurrent() || !this.#open) return;
      try {
        this.#parser.push(chunk, (status, closes) => this.#answered(status, closes));
      } catch {
        this.#lose();
        this.#socket.destroy();
      }
    });
    // What is wrong with it is of no interest: it is lost, and counted as such.
    socket.on('error', () => {});
    socket.on('close', () => {
      if (!isCurrent()) return;
      this.#lose();
      setTimeout(() => {
        if (isCurrent()) this.#connect();
      }, reopenMs);
    });
  }

  #answered(status: number, closes: boolean): void {
    // An answer nobody asked for: whatever comes next could not be told from the answer to the next request.
    if (!this.#underWay) throw new Error('an answer without a request');
    this.#underWay = false;
    if (closes) {
      this.#open = false;
      this.#socket.destroy();
    }
    this.#events.onAnswer(status);
    if (this.isFree) this.#events.onFree();
  }

  #lose(): void {
    this.#open = false;
    if (!this.#underWay) return;
    this.#underWay = false;
    this.#events.onLost();
  }
}
