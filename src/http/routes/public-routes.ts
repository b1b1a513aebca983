import type { RequestHandler } from '../engines/listener.ts';
import { logoPathPrefix } from './static-routes.ts';
import { widgetPath } from './widget-routes.ts';

interface PublicRoutes extends Readonly<Record<'api' | 'widget' | 'logo', RequestHandler>> {
  readonly click: ReadonlyMap<string, RequestHandler>;
}

/** Creates the handler of the public listener, which selects a group of routes by path. Unknown paths are passed to the API routes. */
export function publicRoutes({ api, click, widget, logo }: PublicRoutes): RequestHandler {
  return (context) => {
    const { path } = context;
    const clickHandler = click.get(path);
    if (clickHandler !== undefined) return clickHandler(context);
    if (path === widgetPath || path.startsWith(`${widgetPath}/`)) return widget(context);
    return path.startsWith(logoPathPrefix) ? logo(context) : api(context);
  };
}
