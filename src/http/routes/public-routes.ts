import type { Handler } from '../engines/listener.ts';
import type { ApiRoutes } from './api-routes.ts';
import { type ClickRoutes, clickPath, sandboxLandingPath } from './click-routes.ts';
import { logoPathPrefix } from './logo-routes.ts';
import { routeIndexOf } from './route-names.ts';
import { type WidgetRoutes, widgetPath } from './widget-routes.ts';

/** The doors of the public listener. */
interface PublicRouteHandlers {
  readonly api: ApiRoutes;
  readonly click: ClickRoutes;
  readonly widget: WidgetRoutes;
  readonly logo: Handler;
}

const logoRouteIndex = routeIndexOf('logo');

/** Which door of the public listener a request goes to, by its path; the API says 404 to what is nobody's. */
export function publicRoutes({ api, click, widget, logo }: PublicRouteHandlers): Handler {
  return (exchange) => {
    const { path } = exchange;
    if (path === clickPath || path === sandboxLandingPath) return click.handle(exchange);
    if (path === widgetPath || path.startsWith(`${widgetPath}/`)) return widget.handle(exchange);
    if (!path.startsWith(logoPathPrefix)) return api.handle(exchange);
    exchange.routeIndex = logoRouteIndex;
    return logo(exchange);
  };
}
