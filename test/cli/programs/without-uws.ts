import { registerHooks } from 'node:module';

// Preloaded: loading uWebSockets.js fails, as on a machine without a binary of it.
registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('uWebSockets.js')) throw new Error('no binary for this machine');
    return next(specifier, context);
  },
});
