import { forwardAllRequests } from '../support/running-marketplace.ts';

// Runs the tests of these files with two shards. Each request arrives at the shard that must forward it.
forwardAllRequests();
await import('./access.test.ts');
await import('./analytics.test.ts');
await import('./click.test.ts');
await import('./console-login.test.ts');
await import('./cors.test.ts');
await import('./hostile-input.test.ts');
await import('./limits.test.ts');
await import('./marketplace.test.ts');
await import('./order-of-checks.test.ts');
await import('./routes.test.ts');
await import('./widget-requests.test.ts');
