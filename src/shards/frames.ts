import type { Socket } from 'node:net';
import { Decoder, Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';

/**
 * Kinds of frames on a connection between two shards. A frame is its length in 4 bytes, big endian, and a msgpack array of that length. The
 * first item of the array is the kind:
 *
 *     hello         version of the frames, shard of the client, shard of the listener
 *     request       id, route, account, vertical and mode, request ID, method, path, query, elapsed ms, whether it has an Idempotency-Key,
 *                   whether a body follows, peer address, values of the headers of the route
 *     body          id, bytes
 *     bodyTooLarge  id
 *     cancel        id
 *     relayedClick  id, items of `RelayedClick`
 *     reply         id, status, headers, body (text or bytes)
 *     clickTaken    id
 *
 * The client sends `hello` first, and the listener sends only `reply` and `clickTaken`. Ids are unique on a connection until their reply or
 * cancellation.
 */
export const frameKind = {
  hello: 0,
  request: 1,
  body: 2,
  bodyTooLarge: 3,
  cancel: 4,
  reply: 5,
  relayedClick: 6,
  clickTaken: 7,
} as const;

/** Version of the frames. Shards of different versions refuse each other. */
export const frameVersion = 1;

const lengthBytes = 4;

export class FrameError extends Error {
  override readonly name = 'FrameError';
}

const encoder = new Encoder({ initialBufferSize: 64 * 1024 });
const decoder = new Decoder({
  maxArrayLength: bounds.frameItemsMax,
  // A character of a request head has up to three bytes in UTF-8.
  maxStrLength: 3 * bounds.requestHeadBytesMax,
  maxBinLength: bounds.replyFrameBytesMax,
  maxMapLength: 0,
  maxExtLength: 0,
});

/** Decodes a frame without its length. Throws FrameError if the frame is not an array. The receiver checks the items. */
function decodeFrame(bytes: Buffer): readonly unknown[] {
  let frame: unknown;
  try {
    frame = decoder.decode(bytes);
  } catch {
    throw new FrameError('a frame is not valid msgpack');
  }
  if (!Array.isArray(frame)) throw new FrameError('a frame is not an array');
  return frame;
}

/** Splits the bytes of a connection into frames. */
class FrameReader {
  readonly #frameBytesMax: number;
  readonly #onFrame: (frame: readonly unknown[]) => void;
  /** Received parts of an incomplete frame. */
  #parts: Buffer[] = [];
  #partBytes = 0;
  /** Number of bytes after which the incomplete frame, or its length, is complete. */
  #neededBytes = lengthBytes;

  constructor(frameBytesMax: number, onFrame: (frame: readonly unknown[]) => void) {
    this.#frameBytesMax = frameBytesMax;
    this.#onFrame = onFrame;
  }

  /** Calls `onFrame` for each frame that the chunk completes. Throws FrameError for an invalid frame. */
  read(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#partBytes += chunk.length;
    if (this.#partBytes < this.#neededBytes) return;
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#partBytes);
    let start = 0;
    this.#neededBytes = lengthBytes;
    while (bytes.length - start >= lengthBytes) {
      const length = bytes.readUInt32BE(start);
      if (length > this.#frameBytesMax) throw new FrameError('a frame is too long');
      const end = start + lengthBytes + length;
      if (end > bytes.length) {
        this.#neededBytes = end - start;
        break;
      }
      this.#onFrame(decodeFrame(bytes.subarray(start + lengthBytes, end)));
      start = end;
    }
    const rest = bytes.subarray(start);
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#partBytes = rest.length;
  }
}

/**
 * Passes the frames that a socket receives to `onFrame`, and destroys the socket after an invalid frame: `onFrame` throws FrameError, too.
 * Ignores errors of the socket, because the event `close` follows them.
 */
export function readFrames(socket: Socket, frameBytesMax: number, onFrame: (frame: readonly unknown[]) => void): void {
  const reader = new FrameReader(frameBytesMax, onFrame);
  socket.on('data', (chunk) => {
    if (socket.destroyed) return;
    try {
      reader.read(chunk);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      socket.destroy();
    }
  });
  socket.on('error', () => {});
}

/** Writes frames to a socket. The frames of one turn of the event loop are written together. */
export class FrameWriter {
  readonly #socket: Socket;
  #batch = Buffer.allocUnsafe(bounds.frameBatchBytesKept);
  #batchBytes = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Size of the frames that the operating system has not accepted yet. */
  get unsentBytes(): number {
    return this.#batchBytes + this.#socket.writableLength;
  }

  /** Adds a frame. Throws FrameError, without adding the frame, if the frame is longer than `frameBytesMax`. */
  write(frame: readonly unknown[], frameBytesMax: number): void {
    const bytes = encoder.encodeSharedRef(frame);
    if (bytes.length > frameBytesMax) throw new FrameError('a frame is too long');
    const start = this.#batchBytes;
    const end = start + lengthBytes + bytes.length;
    if (end > this.#batch.length) {
      const larger = Buffer.allocUnsafe(Math.max(end, 2 * this.#batch.length));
      larger.set(this.#batch.subarray(0, start));
      this.#batch = larger;
    }
    if (start === 0) setImmediate(() => this.#flush());
    this.#batch.writeUInt32BE(bytes.length, start);
    this.#batch.set(bytes, start + lengthBytes);
    this.#batchBytes = end;
  }

  #flush(): void {
    const batch = this.#batch.subarray(0, this.#batchBytes);
    this.#batchBytes = 0;
    if (this.#socket.destroyed) return;
    if (this.#batch.length === bounds.frameBatchBytesKept) {
      this.#socket.write(Buffer.from(batch));
      return;
    }
    this.#socket.write(batch);
    this.#batch = Buffer.allocUnsafe(bounds.frameBatchBytesKept);
  }
}
