import { registerHooks } from 'node:module';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

// Preloaded into a server. Sends the signal in SIGNAL to the process when it loads the project file in LOADING.
if (isMainThread) {
  const { LOADING: file = '', SIGNAL: signal } = process.env;
  registerHooks({
    load(url, context, next) {
      if (url.endsWith(file)) process.kill(process.pid, signal);
      return next(url, context);
    },
  });
}
