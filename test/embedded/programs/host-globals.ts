import process from 'node:process';
import { Settings } from 'typebox/system';

/** Returns the current state of globals that belong to the program that embeds the service. */
export function hostGlobals() {
  return {
    environment: { ...process.env },
    processListeners: process.eventNames().map((name) => [name, process.listeners(name as 'exit')]),
    umask: process.umask(),
    title: process.title,
    globals: Object.getOwnPropertyNames(globalThis).sort(),
    builtins: [Object, Array, String, Promise, Date, Error].map((builtin) => [
      Object.getOwnPropertyNames(builtin),
      Object.getOwnPropertyNames(builtin.prototype),
    ]),
    stackTraceLimit: Error.stackTraceLimit,
    typebox: { ...Settings.Get() },
  };
}
