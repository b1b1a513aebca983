import { createRequire } from 'node:module';

// `package.json` is resolved by package name, because its relative path from this file differs in the compiled package.
const manifest: { version: string } = createRequire(import.meta.url)('svc-marketplace/package.json');

export const packageVersion = manifest.version;
