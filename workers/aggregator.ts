import { parentPort, workerData } from 'node:worker_threads';
import { Aggregator } from '../src/analytics/aggregator.ts';
import type { AggregatorWorkerData } from '../src/analytics/aggregator-protocol.ts';

if (parentPort === null) throw new Error('workers/aggregator.ts must run in a worker thread');
new Aggregator(workerData as AggregatorWorkerData, parentPort);
