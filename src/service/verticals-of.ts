import type { Vertical } from '../verticals/vertical.ts';
import type { ServiceOptions } from './service.ts';

/** Those that a service with these options serves. */
export function servedVerticals({ catalogs }: ServiceOptions): Vertical[] {
  return [...new Set(catalogs.map(({ vertical }) => vertical))];
}
