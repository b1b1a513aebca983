import { registerHooks } from 'node:module';

// Loaded ahead of the program: the native HTTP engine cannot be loaded, as on a machine it has no binary for.
registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('uWebSockets.js')) throw new Error('no binary for this machine');
    return next(specifier, context);
  },
});
