import { Encoder } from '@msgpack/msgpack';
import { RecordDecoder } from '../../../src/events/record-decoder.ts';
import type { Micro } from '../micro.ts';
import { drawRecords } from './records.ts';

const calls = 999;

export const recordDecoderMicros: readonly Micro[] = [
  {
    name: 'events/ledger-record: encode',
    call: 'one record to msgpack; sessions, views of five offers and clicks in turn',
    prepare: () => {
      const records = drawRecords(calls);
      const encoder = new Encoder();
      return {
        calls,
        run: () => {
          let bytes = 0;
          for (const record of records) bytes += encoder.encodeSharedRef(record).length;
          return bytes;
        },
      };
    },
  },
  {
    name: 'events/record-decoder: decode',
    call: 'one record from msgpack, bounds looked at; sessions, views of five offers and clicks in turn',
    prepare: () => {
      const encoder = new Encoder();
      const payloads = drawRecords(calls).map((record) => encoder.encode(record));
      const decoder = new RecordDecoder();
      return {
        calls,
        run: () => {
          let items = 0;
          for (const payload of payloads) items += decoder.decode(payload).length;
          return items;
        },
      };
    },
  },
];
