import { createRequire } from 'node:module';

// The manifest is resolved by package name, because its relative path differs in the compiled package.
const manifest: { version: string } = createRequire(import.meta.url)('svc-marketplace/package.json');

export const serviceVersion = manifest.version;
