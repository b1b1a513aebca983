import { Encoder } from '@msgpack/msgpack';
import { encodeFrame, frameCrc } from '../../../src/events/log-format.ts';
import type { Micro } from '../micro.ts';
import { drawRecords } from './records.ts';

const calls = 999;

function drawPayloads(): Uint8Array[] {
  const encoder = new Encoder();
  return drawRecords(calls).map((record) => encoder.encode(record));
}

export const logFormatMicros: readonly Micro[] = [
  {
    name: 'events/log-format: CRC of a frame',
    call: 'one record, its place in the chain and the CRC before it',
    prepare: () => {
      const payloads = drawPayloads();
      return {
        calls,
        run: () => {
          let crc = 0;
          for (const [at, payload] of payloads.entries()) crc = frameCrc(at + 1, crc, payload);
          return crc;
        },
      };
    },
  },
  {
    name: 'events/log-format: encode a frame',
    call: 'one record in a frame of its own, CRC included',
    prepare: () => {
      const payloads = drawPayloads();
      return {
        calls,
        run: () => {
          let previousCrc = 0;
          let bytes = 0;
          for (const [at, payload] of payloads.entries()) {
            const frame = encodeFrame(payload, at + 1, previousCrc);
            previousCrc = frame.crc;
            bytes += frame.bytes.length;
          }
          return bytes;
        },
      };
    },
  },
];
