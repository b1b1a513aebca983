import type { ServerKind } from '../result/measurement.ts';

/** What the report calls the servers. */
export const serverNames: Readonly<Record<ServerKind, string>> = {
  service: 'service',
  bare: 'bare uWebSockets.js',
  synced: 'bare uWebSockets.js, synced',
  'node-http': 'bare node:http',
  fastify: 'bare Fastify',
};
