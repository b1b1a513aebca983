import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

// Preloaded into a server. SIGUSR2 causes an uncaught exception, and SIGWINCH an unhandled rejection.
if (isMainThread) {
  process.on('SIGUSR2', () => {
    throw Object.assign(new Error('a bug'), { submitted: 'not-to-be-logged' });
  });
  process.on('SIGWINCH', () => {
    void Promise.reject(new Error('an unhandled bug'));
  });
}
