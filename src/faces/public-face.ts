import type { Handler } from '../http/listener.ts';
import type { ApiFace } from './api-face.ts';
import { type ClickFace, clickPath, sandboxLandingPath } from './click-face.ts';
import { logoPathHead } from './logo-face.ts';
import { routeOf } from './routes.ts';
import { type WidgetFace, widgetPath } from './widget-face.ts';

/** The doors of the public listener. */
export interface PublicFaces {
  readonly api: ApiFace;
  readonly click: ClickFace;
  readonly widget: WidgetFace;
  readonly logo: Handler;
}

const logoRoute = routeOf('logo');

/** Which door of the public listener a request goes to, by its path; the API says 404 to what is nobody's. */
export function publicFace({ api, click, widget, logo }: PublicFaces): Handler {
  return (exchange) => {
    const { path } = exchange;
    if (path === clickPath || path === sandboxLandingPath) return click.handle(exchange);
    if (path === widgetPath || path.startsWith(`${widgetPath}/`)) return widget.handle(exchange);
    if (!path.startsWith(logoPathHead)) return api.handle(exchange);
    exchange.route = logoRoute;
    return logo(exchange);
  };
}
