import { fixedHeaders, header } from '../http/header-text.ts';
import type { Handler } from '../http/listener.ts';
import type { WidgetScript } from '../widgets/widget-script.ts';
import { answerReading } from './answer-reading.ts';
import { readQueryParameters } from './query-parameters.ts';
import { type StaticFile, sendStatic } from './static-reply.ts';
import { weightedList } from './weighted-list.ts';

const parameters = new Set(['v'] as const);
const headers = fixedHeaders({
  'Content-Type': 'text/javascript; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  Vary: 'Accept-Encoding',
});

/** The door of the widget's script, which every page loads: sent compressed to whoever takes that. */
export function widgetScriptFace({ hash, plain, gzip, brotli }: WidgetScript): Handler {
  const encoded = (name: string, bytes: Uint8Array): readonly [string, StaticFile] => [
    name,
    { bytes, hash, etag: `"${hash}-${name}"`, headers: headers + header('Content-Encoding', name) },
  ];
  const unencoded: StaticFile = { bytes: plain, hash, etag: `"${hash}"`, headers };
  // The smallest first.
  const files = [encoded('br', brotli), encoded('gzip', gzip)];
  return (exchange) =>
    answerReading(exchange, () => {
      const query = readQueryParameters(exchange.query, parameters);
      const accepted = weightedList(exchange.header('accept-encoding'));
      const [, file] = files.find(([name]) => (accepted.get(name) ?? 0) > 0) ?? [null, unencoded];
      sendStatic(exchange, file, query.ok ? query.values.v : undefined);
    });
}
