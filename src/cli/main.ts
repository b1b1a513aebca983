import process from 'node:process';
import { installSignalHandlers } from './signals.ts';

// Installs the signal handlers before the other modules are loaded, because a signal without a handler would kill the process.
if (process.argv[2] === 'serve') installSignalHandlers();
await import('./command-line.ts');
