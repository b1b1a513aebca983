import type { MicroBenchmark } from '../micro.ts';
import { SessionCreator } from '../operations/session-maker.ts';

const sessionResponseCalls = 1_000;

export const sessionResponseBenchmark: MicroBenchmark = {
  name: "faces/api-face: write a session's answer",
  call: 'JSON text of one Session object, and its bytes',
  prepare: async () => {
    const maker = new SessionCreator();
    const sessions = await Promise.all(Array.from({ length: sessionResponseCalls }, () => maker.create()));
    const wire = Buffer.alloc(4_096);
    return {
      calls: sessionResponseCalls,
      run: () => {
        let bytes = 0;
        for (const session of sessions) bytes += wire.write(JSON.stringify(session));
        return bytes;
      },
      close: () => maker.close(),
    };
  },
};
