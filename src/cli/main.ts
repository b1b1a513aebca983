import process from 'node:process';
import { installServeSignals } from './signals.ts';

// Loading all the rest takes a moment, in which a signal would end a server as if it had none of its own ways to stop.
if (process.argv[2] === 'serve') installServeSignals();
await import('./command-line.ts');
