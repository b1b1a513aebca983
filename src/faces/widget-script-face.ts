import { formatHeaders } from '../http/header-text.ts';
import type { Handler } from '../http/listener.ts';
import type { WidgetScript } from '../widgets/widget-script.ts';
import { respondToRead } from './answer-reading.ts';
import { readFileRequest, createFileSender } from './packed-file.ts';

const scriptHeaders = formatHeaders({
  'Content-Type': 'text/javascript; charset=utf-8',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  Vary: 'Accept-Encoding',
});

/** The door of the widget's script, which every page loads. */
export function widgetScriptRoute(script: WidgetScript): Handler {
  const send = createFileSender(script, scriptHeaders);
  return (exchange) => respondToRead(exchange, () => send(exchange, readFileRequest(exchange)));
}
