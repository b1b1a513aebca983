import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectSecurely, type TLSSocket } from 'node:tls';

export interface RawResponse {
  readonly status: number;
  /** Lower-case names; of repeated headers the last. */
  readonly headers: ReadonlyMap<string, string>;
  /** How often each header came. */
  readonly counts: ReadonlyMap<string, number>;
  readonly body: Buffer;
}

/** No whole answer has come, and none will. */
class ConnectionEnded extends Error {
  constructor(received: Buffer) {
    super(`the connection ended after ${JSON.stringify(received.toString('latin1').slice(0, 200))}`);
  }
}

/** A client that sends exactly the bytes it is given, and reads answers one by one. */
export class RawConnection {
  readonly socket: Socket;
  /** Resolves when the server's end is closed, in order or by a reset. */
  readonly closed: Promise<void>;
  private received = Buffer.alloc(0);
  /** What came after that. */
  private readonly coming: Buffer[] = [];
  private comingBytes = 0;
  /** How much has to be there before the next answer can be whole. */
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

  /** The same over TLS, trusting whoever answers. */
  static async openSecurely<Connection extends RawConnection>(
    this: new (
      socket: Socket,
    ) => Connection,
    port: number,
    options: ConnectionOptions = {},
  ): Promise<Connection> {
    const socket = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
    socket.setNoDelay(true);
    const connection = new this(socket);
    await once(socket, 'secureConnect');
    return connection;
  }

  /** Of the certificate that the server has shown; undefined without TLS. */
  get serverName(): string | undefined {
    return 'getPeerX509Certificate' in this.socket
      ? (this.socket as TLSSocket).getPeerX509Certificate()?.subject
      : undefined;
  }

  send(bytes: string | Buffer): void {
    this.write(bytes);
  }

  /** Sends, and says that nothing more will come. */
  sendLast(bytes: string | Buffer): void {
    this.write(bytes);
    this.socket.end();
  }

  /** Sends in pieces, each in a packet of its own as far as anyone can tell. */
  async sendInPieces(pieces: readonly string[]): Promise<void> {
    for (const piece of pieces) {
      await new Promise<void>((sent) => this.write(piece, sent));
      await new Promise(setImmediate);
    }
  }

  /** The next answer. `bodyless` for answers to HEAD. Rejects with `ConnectionEnded` when the connection ends before it is whole. */
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

  /** The next answer, or null when the connection ends before it is whole. */
  async responseOrEnd(): Promise<RawResponse | null> {
    try {
      return await this.response();
    } catch (fault) {
      if (fault instanceof ConnectionEnded) return null;
      throw fault;
    }
  }

  /** What has arrived and was not taken as an answer. */
  get rest(): string {
    this.gather();
    return this.received.toString('latin1');
  }

  close(): void {
    this.socket.destroy();
  }

  /** Everything that is sent comes through here. */
  protected write(bytes: string | Buffer, whenSent: () => void = () => {}): void {
    this.socket.write(bytes, whenSent);
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
