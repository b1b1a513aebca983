import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

// Preloaded into a server. Sends SIGTERM to the process during the start, when the first worker thread is created.
if (isMainThread) process.once('worker', () => process.kill(process.pid, 'SIGTERM'));
