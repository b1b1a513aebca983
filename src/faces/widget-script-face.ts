import { fixedHeaders } from '../http/header-text.ts';
import type { Handler } from '../http/listener.ts';
import type { WidgetScript } from '../widgets/widget-script.ts';
import { answerReading } from './answer-reading.ts';
import { fileAsked, packedFileSender } from './packed-file.ts';

const headers = fixedHeaders({
  'Content-Type': 'text/javascript; charset=utf-8',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  Vary: 'Accept-Encoding',
});

/** The door of the widget's script, which every page loads. */
export function widgetScriptFace(script: WidgetScript): Handler {
  const send = packedFileSender(script, headers);
  return (exchange) => answerReading(exchange, () => send(exchange, fileAsked(exchange)));
}
