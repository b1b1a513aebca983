import { registerHooks } from 'node:module';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

// Preloaded: sends SIGNAL to the process when it loads the project file LOADING.
if (isMainThread) {
  const { LOADING: file = '', SIGNAL: signal } = process.env;
  registerHooks({
    load(url, context, next) {
      if (url.endsWith(file)) process.kill(process.pid, signal);
      return next(url, context);
    },
  });
}
