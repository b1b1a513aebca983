import type { Handler } from '../http/listener.ts';
import type { ApiFace } from './api-face.ts';
import { type ClickFace, clickPath, sandboxLandingPath } from './click-face.ts';
import { logoPathHead } from './logo-face.ts';

/** Which door of the public listener a request goes to, by its path; the API says 404 to what is nobody's. */
export function publicFace(api: ApiFace, click: ClickFace, logo: Handler): Handler {
  return (exchange) => {
    const { path } = exchange;
    if (path === clickPath || path === sandboxLandingPath) return click.handle(exchange);
    return path.startsWith(logoPathHead) ? logo(exchange) : api.handle(exchange);
  };
}
