// Serves one request on a listener, closes it, and prints the result as one JSON line. The process must then exit by itself.
// Arguments: the engine, and the folder of the sources.
import { pathToFileURL } from 'node:url';
import type { HttpEngineSetting } from '../../../src/config/service-settings.ts';
import type * as StartListener from '../../../src/http/engines/start-listener.ts';

const [engine, sources] = process.argv.slice(2);
const { startListener } = (await import(
  `${pathToFileURL(sources ?? '')}/http/engines/start-listener.ts`
)) as typeof StartListener;

const listener = await startListener(engine as HttpEngineSetting, {
  host: '127.0.0.1',
  port: 0,
  handler: (context) => context.reply({ status: 200, headers: '', body: 'served' }),
  errorReply: () => ({ status: 500, headers: '', body: '' }),
  onHandlerError: (fault) => console.error(fault),
  bodyBytesMax: 1_000,
  deadlineMs: 10_000,
});
const answer = await fetch(`http://127.0.0.1:${listener.port}/`);
const body = await answer.text();
await listener.close(10_000);
console.log(JSON.stringify({ engine: listener.engine, reason: listener.engineReason, body }));
