import type { RequestHandler } from '../engines/listener.ts';
import { consolePath } from './console/console-page.ts';
import { logoPathPrefix } from './static-routes.ts';
import { widgetPath } from './widget-routes.ts';

interface PublicRoutes extends Readonly<Record<'api' | 'console' | 'widget' | 'logo', RequestHandler>> {
  readonly click: ReadonlyMap<string, RequestHandler>;
}

/** Creates the handler of the public listener, which selects a group of routes by path. Unknown paths are passed to the API routes. */
export function publicRoutes({ api, click, console, widget, logo }: PublicRoutes): RequestHandler {
  return (context) => {
    const { path } = context;
    const clickHandler = click.get(path);
    if (clickHandler !== undefined) return clickHandler(context);
    if (path === widgetPath || path.startsWith(`${widgetPath}/`)) return widget(context);
    if (path.startsWith(logoPathPrefix)) return logo(context);
    return path.startsWith(consolePath) ? console(context) : api(context);
  };
}
