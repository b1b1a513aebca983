/**
 * The yardstick: uWebSockets.js and nothing else. It reads a request whole, parses a JSON body, writes an answer that the
 * service once gave, byte for byte, and knows no key, session, offer or log. Runs in a process of its own.
 */
import { serveOnUws } from './serve-on-uws.ts';

serveOnUws((res, answer, corked, write) => {
  if (corked) write(res, answer);
  else res.cork(() => write(res, answer));
});
