import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

// Preloaded: sends SIGTERM during the start, when the first worker thread is created.
if (isMainThread) process.once('worker', () => process.kill(process.pid, 'SIGTERM'));
