import { once } from 'node:events';
import { connect } from 'node:net';

/** Sends one request with keep-alive on a new socket. Returns the raw response, with its status line and headers. */
export async function rawAnswer(port: number, request: string, bodyBytes: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.write(request);
  let text = '';
  try {
    for (;;) {
      const end = text.indexOf('\r\n\r\n');
      if (end !== -1 && text.length >= end + 4 + bodyBytes) return text;
      const [more] = (await once(socket, 'data')) as [string];
      text += more;
    }
  } finally {
    socket.destroy();
  }
}
