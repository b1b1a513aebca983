import { createRequire } from 'node:module';

// Resolved by package name because the relative path differs in the compiled package.
const manifest: { version: string } = createRequire(import.meta.url)('svc-marketplace/package.json');

export const version = manifest.version;
