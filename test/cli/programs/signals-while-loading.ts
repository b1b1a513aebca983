import { registerHooks } from 'node:module';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

// Loaded ahead of the program: sends it SIGNAL when it comes to load the file LOADING of the project.
if (isMainThread) {
  const { LOADING: file = '', SIGNAL: signal } = process.env;
  registerHooks({
    load(url, context, next) {
      if (url.endsWith(file)) process.kill(process.pid, signal);
      return next(url, context);
    },
  });
}
