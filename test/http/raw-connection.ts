import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectSecurely, type TLSSocket } from 'node:tls';

export interface RawResponse {
  readonly status: number;
  /** Lower-case names, with the last value of a repeated header. */
  readonly headers: ReadonlyMap<string, string>;
  /** Number of occurrences of each header. */
  readonly counts: ReadonlyMap<string, number>;
  readonly body: Buffer;
}

/** The connection ended before a complete response. */
class ConnectionEnded extends Error {
  constructor(received: Buffer) {
    super(`the connection ended after ${JSON.stringify(received.toString('latin1').slice(0, 200))}`);
  }
}

/** A client that sends exactly the given bytes, and reads responses one by one. */
export class RawConnection {
  readonly socket: Socket;
  /** Resolves when the server closes or resets the connection. */
  readonly closed: Promise<void>;
  private received = Buffer.alloc(0);
  /** Received chunks that are not yet part of `received`. */
  private readonly coming: Buffer[] = [];
  private comingBytes = 0;
  /** Number of bytes of the next response; 0 until its head has arrived. */
  private wantedBytes = 0;
  private ended = false;
  private wake: () => void = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      const end = (): void => {
        this.ended = true;
        this.wake();
        resolve();
      };
      socket.on('end', end);
      socket.on('close', end);
    });
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      this.coming.push(bytes);
      this.comingBytes += bytes.length;
      if (this.received.length + this.comingBytes >= this.wantedBytes) this.wake();
    });
  }

  static async open<Connection extends RawConnection>(
    this: new (
      socket: Socket,
    ) => Connection,
    port: number,
  ): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const connection = new this(socket);
    await once(socket, 'connect');
    return connection;
  }

  /** Connects over TLS, without verifying the certificate. */
  static async openSecurely(port: number, options: ConnectionOptions = {}): Promise<RawConnection> {
    const socket = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
    socket.setNoDelay(true);
    const connection = new RawConnection(socket);
    await once(socket, 'secureConnect');
    return connection;
  }

  /** Subject of the server's certificate; undefined without TLS. */
  get serverName(): string | undefined {
    return 'getPeerX509Certificate' in this.socket
      ? (this.socket as TLSSocket).getPeerX509Certificate()?.subject
      : undefined;
  }

  send(bytes: string | Buffer, whenSent?: () => void): void {
    this.socket.write(bytes, whenSent);
  }

  /** Sends the bytes and ends the sending side. */
  sendLast(bytes: string | Buffer): void {
    this.socket.end(bytes);
  }

  /** Sends each piece in a write of its own. */
  async sendInPieces(pieces: readonly (string | Buffer)[]): Promise<void> {
    for (const piece of pieces) {
      await new Promise<void>((sent) => this.send(piece, sent));
      await new Promise(setImmediate);
    }
  }

  /** Returns the next response; `bodyless` for HEAD. Rejects with `ConnectionEnded` if the connection ends first. */
  async response(bodyless = false): Promise<RawResponse> {
    for (;;) {
      const parsed = this.take(bodyless);
      if (parsed !== undefined) return parsed;
      if (this.ended) throw new ConnectionEnded(this.received);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** Returns the next response, or null if the connection ends first. */
  async responseOrEnd(): Promise<RawResponse | null> {
    try {
      return await this.response();
    } catch (fault) {
      if (fault instanceof ConnectionEnded) return null;
      throw fault;
    }
  }

  /** Received text that belongs to no returned response. */
  get rest(): string {
    this.gather();
    return this.received.toString('latin1');
  }

  close(): void {
    this.socket.destroy();
  }

  private gather(): void {
    this.received = Buffer.concat([this.received, ...this.coming.splice(0)]);
    this.comingBytes = 0;
  }

  private take(bodyless: boolean): RawResponse | undefined {
    this.gather();
    this.wantedBytes = 0;
    const headEnd = this.received.indexOf('\r\n\r\n');
    if (headEnd === -1) return undefined;
    const [line = '', ...fields] = this.received.toString('latin1', 0, headEnd).split('\r\n');
    const headers = new Map<string, string>();
    const counts = new Map<string, number>();
    for (const field of fields) {
      const colon = field.indexOf(':');
      const name = field.slice(0, colon).toLowerCase();
      headers.set(name, field.slice(colon + 1).trim());
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const status = Number(line.split(' ')[1]);
    const bodyLength = bodyless || status === 204 || status === 304 ? 0 : Number(headers.get('content-length') ?? 0);
    const end = headEnd + 4 + bodyLength;
    if (this.received.length < end) {
      this.wantedBytes = end;
      return undefined;
    }
    const body = this.received.subarray(headEnd + 4, end);
    this.received = this.received.subarray(end);
    return { status, headers, counts, body };
  }
}
