import { Encoder } from '@msgpack/msgpack';
import { encodeMarkedFrame, frameCrc } from '../../../src/events/log-format.ts';
import type { MicroBenchmark } from '../micro.ts';
import { randomRecords } from './records.ts';

const logFormatCalls = 999;

function randomPayloads(): Uint8Array[] {
  const encoder = new Encoder();
  return randomRecords(logFormatCalls).map((record) => encoder.encode(record));
}

export const logFormatBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'events/log-format: CRC of a frame',
    call: 'one record, its place in the chain and the CRC before it',
    prepare: () => {
      const payloads = randomPayloads();
      return {
        calls: logFormatCalls,
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
      const payloads = randomPayloads();
      return {
        calls: logFormatCalls,
        run: () => {
          let previousCrc = 0;
          let bytes = 0;
          for (const [at, payload] of payloads.entries()) {
            const frame = encodeMarkedFrame(payload, at + 1, previousCrc);
            previousCrc = frame.crc;
            bytes += frame.bytes.length;
          }
          return bytes;
        },
      };
    },
  },
];
