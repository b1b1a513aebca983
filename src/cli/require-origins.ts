import type { Command } from 'commander';
import { validateWebOrigin } from '../access/web-origin.ts';

/**
 * Ends the command as wrongly used at the first argument that is no origin. It is told by its place and not repeated: what was
 * pasted here by mistake may be a key.
 */
export function assertOrigins(origins: readonly string[], command: Command): void {
  for (const [at, origin] of origins.entries()) {
    const fault = validateWebOrigin(origin);
    if (fault !== null) command.error(`error: origin ${at + 1} of ${origins.length} is none. ${fault}`);
  }
}
