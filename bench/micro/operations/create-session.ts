import type { SessionView } from '../../../src/operations/create-session.ts';
import type { MicroBenchmark } from '../micro.ts';
import { SessionCreator } from './session-maker.ts';

const createSessionCalls = 200;

export const createSessionBenchmark: MicroBenchmark = {
  name: 'operations/create-session: all but the log',
  call: 'one session: body judged, id issued, put in the store, its record given to a log that does nothing',
  prepare: () => {
    const maker = new SessionCreator();
    let made: SessionView[] = [];
    return {
      calls: createSessionCalls,
      beforeEach: () => maker.deleteAll(made),
      run: async () => {
        made = await Promise.all(Array.from({ length: createSessionCalls }, () => maker.create()));
        let characters = 0;
        for (const { sub_id } of made) characters += sub_id.length;
        return characters;
      },
      close: () => maker.close(),
    };
  },
};
