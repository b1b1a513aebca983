import { Encoder } from '@msgpack/msgpack';
import { RecordEncoder } from '../../../src/events/record-encoder.ts';
import type { Micro } from '../micro.ts';
import { drawRecords } from './records.ts';

const calls = 999;
const target = Buffer.alloc(64 * 1024);

export const recordEncoderMicros: readonly Micro[] = [
  {
    name: 'events/record-encoder: encode',
    call: 'one record to msgpack, where it belongs; sessions, views of five offers and clicks in turn',
    prepare: () => {
      const records = drawRecords(calls);
      const encoder = new RecordEncoder();
      return {
        calls,
        run: () => {
          let bytes = 0;
          for (const record of records) bytes += encoder.write(target, 0, record);
          return bytes;
        },
      };
    },
  },
  {
    name: 'events/record-encoder: what the library takes for it',
    call: 'the same record by @msgpack/msgpack, and copied to where it belongs',
    prepare: () => {
      const records = drawRecords(calls);
      const encoder = new Encoder();
      return {
        calls,
        run: () => {
          let bytes = 0;
          for (const record of records) {
            const encoded = encoder.encodeSharedRef(record);
            target.set(encoded, 0);
            bytes += encoded.length;
          }
          return bytes;
        },
      };
    },
  },
];
