import process from 'node:process';
import { serveSignals } from './serve-signals.ts';

// Loading all the rest takes a moment, in which a signal would end a server as if it had none of its own ways to stop.
if (process.argv[2] === 'serve') serveSignals();
await import('./command-line.ts');
