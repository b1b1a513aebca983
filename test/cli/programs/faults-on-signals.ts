import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

// Loaded ahead of the program: gives a test the means to bring about what must never happen.
if (isMainThread) {
  process.on('SIGUSR2', () => {
    throw Object.assign(new Error('a bug'), { submitted: 'not-to-be-logged' });
  });
  process.on('SIGWINCH', () => {
    void Promise.reject(new Error('a bug nobody waited for'));
  });
}
