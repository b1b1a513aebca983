import process from 'node:process';
import { installServeSignals } from './signals.ts';

// Installed first, because a signal during the loading of the other modules would kill the process.
if (process.argv[2] === 'serve') installServeSignals();
await import('./command-line.ts');
