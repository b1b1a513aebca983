import { createRequire } from 'node:module';

// By name, since the way to it is another one in the compiled package.
const manifest: { version: string } = createRequire(import.meta.url)('svc-marketplace/package.json');

/** Of this program. */
export const version = manifest.version;
