import type { Handler } from '../http/listener.ts';
import type { ApiFace } from './api-face.ts';
import { type ClickFace, clickPath, sandboxLandingPath } from './click-face.ts';

/** Which door of the public listener a request goes to, by its path; the API says 404 to what is nobody's. */
export function publicFace(api: ApiFace, click: ClickFace): Handler {
  return (exchange) => {
    const { path } = exchange;
    return path === clickPath || path === sandboxLandingPath ? click.handle(exchange) : api.handle(exchange);
  };
}
