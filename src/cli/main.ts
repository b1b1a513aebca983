import process from 'node:process';
import { installServeSignals } from './signals.ts';

// Signal handlers are installed before the other modules are loaded, because a signal during loading would kill the process.
if (process.argv[2] === 'serve') installServeSignals();
await import('./command-line.ts');
