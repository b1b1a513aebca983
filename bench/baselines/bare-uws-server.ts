/**
 * Baseline server that uses only uWebSockets.js, in its own process. The server reads the request, parses a JSON body and sends a recorded
 * response of the service, without keys, sessions, offers or a log.
 */
import { serveOnUws } from './serve-on-uws.ts';

serveOnUws((res, answer, corked, write) => {
  if (corked) write(res, answer);
  else res.cork(() => write(res, answer));
});
