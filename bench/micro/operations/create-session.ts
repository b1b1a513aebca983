import type { SessionView } from '../../../src/operations/create-session.ts';
import type { Micro } from '../micro.ts';
import { SessionMaker } from './session-maker.ts';

const calls = 200;

export const createSessionMicro: Micro = {
  name: 'operations/create-session: all but the log',
  call: 'one session: body judged, id issued, put in the store, its record given to a log that does nothing',
  prepare: () => {
    const maker = new SessionMaker();
    let made: SessionView[] = [];
    return {
      calls,
      before: () => maker.forget(made),
      run: async () => {
        made = await Promise.all(Array.from({ length: calls }, () => maker.create()));
        let characters = 0;
        for (const { sub_id } of made) characters += sub_id.length;
        return characters;
      },
      close: () => maker.close(),
    };
  },
};
