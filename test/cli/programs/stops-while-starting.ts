import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

// Loaded ahead of the program: sends it SIGTERM in the middle of its start, when the first of its threads is made.
if (isMainThread) process.once('worker', () => process.kill(process.pid, 'SIGTERM'));
