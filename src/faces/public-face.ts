import type { Handler } from '../http/listener.ts';
import type { ApiRoutes } from './api-face.ts';
import { type ClickRoutes, clickPath, sandboxLandingPath } from './click-face.ts';
import { logoPathPrefix } from './logo-face.ts';
import { routeIndexOf } from './routes.ts';
import { type WidgetRoutes, widgetPath } from './widget-face.ts';

/** The doors of the public listener. */
export interface PublicRouteHandlers {
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
