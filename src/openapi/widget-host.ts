import type { PublicUrls } from '../config/config.ts';
import type { Server } from './openapi-types.ts';

/** Where the widget's page, script and requests are: paths of a document begin below the host. */
export function widgetServer({ widget }: Pick<PublicUrls, 'widget'>): {
  /** Path of the widget's address, without a trailing slash. */
  readonly path: string;
  readonly servers: readonly Server[];
} {
  const { origin, pathname } = new URL(widget);
  return {
    path: pathname === '/' ? '' : pathname,
    servers: [{ url: origin, description: 'The widget host.' }],
  };
}
