import { Encoder } from '@msgpack/msgpack';
import { RecordDecoder } from '../../../src/events/record-decoder.ts';
import type { MicroBenchmark } from '../micro.ts';
import { randomRecords } from './records.ts';

const recordDecoderCalls = 999;

export const recordDecoderBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'events/ledger-record: encode',
    call: 'one record to msgpack; sessions, views of five offers and clicks in turn',
    prepare: () => {
      const records = randomRecords(recordDecoderCalls);
      const encoder = new Encoder();
      return {
        calls: recordDecoderCalls,
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
      const payloads = randomRecords(recordDecoderCalls).map((record) => encoder.encode(record));
      const decoder = new RecordDecoder();
      return {
        calls: recordDecoderCalls,
        run: () => {
          let items = 0;
          for (const payload of payloads) items += decoder.decode(payload).length;
          return items;
        },
      };
    },
  },
];
