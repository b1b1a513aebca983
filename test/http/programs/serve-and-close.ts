// Serves one request on the listener named by the first argument, closes it, and prints what happened as one JSON line. It
// must then end by itself: nothing here ends the process. The second argument is the folder of the sources to run.
import { pathToFileURL } from 'node:url';
import type * as ChooseListener from '../../../src/http/engines/start-listener.ts';

const [kind, sources] = process.argv.slice(2);
const { startListener } = (await import(
  `${pathToFileURL(sources ?? '')}/http/choose-listener.ts`
)) as typeof ChooseListener;

const listener = await startListener(kind as ChooseListener.EngineChoice, {
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
