import { bounds } from '../../../src/bounds.ts';

// Preloaded into a server. Increases the timeouts, so that pending requests of a test do not time out on a busy machine.
(bounds as { requestDeadlineMs: number }).requestDeadlineMs = 600_000;
