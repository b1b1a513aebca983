import { registerHooks } from 'node:module';

// Preloaded into a server. Makes loading uWebSockets.js fail, as on a machine without a prebuilt binary.
registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('uWebSockets.js')) throw new Error('no binary for this machine');
    return next(specifier, context);
  },
});
