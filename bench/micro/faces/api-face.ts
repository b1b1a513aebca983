import type { Micro } from '../micro.ts';
import { SessionMaker } from '../operations/session-maker.ts';

const calls = 1_000;

export const sessionAnswerMicro: Micro = {
  name: "faces/api-face: write a session's answer",
  call: 'JSON text of one Session object, and its bytes',
  prepare: async () => {
    const maker = new SessionMaker();
    const sessions = await Promise.all(Array.from({ length: calls }, () => maker.create()));
    const wire = Buffer.alloc(4_096);
    return {
      calls,
      run: () => {
        let bytes = 0;
        for (const session of sessions) bytes += wire.write(JSON.stringify(session));
        return bytes;
      },
      close: () => maker.close(),
    };
  },
};
