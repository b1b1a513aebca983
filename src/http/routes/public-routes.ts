import type { RequestHandler } from '../engines/listener.ts';
import { isClickPath } from './click-routes.ts';
import { routeIndexOf } from './routing.ts';
import { logoPathPrefix } from './static-routes.ts';
import { widgetPath } from './widget-routes.ts';

const logoRouteIndex = routeIndexOf('logo');

/** Creates the handler of the public listener, which selects a group of routes by path. Unknown paths are passed to the API routes. */
export function publicRoutes({
  api,
  click,
  widget,
  logo,
}: Readonly<Record<'api' | 'click' | 'widget' | 'logo', RequestHandler>>): RequestHandler {
  return (context) => {
    const { path } = context;
    if (isClickPath(path)) return click(context);
    if (path === widgetPath || path.startsWith(`${widgetPath}/`)) return widget(context);
    if (!path.startsWith(logoPathPrefix)) return api(context);
    context.routeIndex = logoRouteIndex;
    return logo(context);
  };
}
