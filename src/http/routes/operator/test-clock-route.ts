import type { Logger } from 'pino';
import { invalidRequest, successOutcome } from '../../../domain/outcome.ts';
import type { ClockAdvance } from '../../../operations/advance-clock.ts';
import type { OperatorRoute } from './operator-route.ts';

/** Returns the route `/test-clock`. `GET` returns the time of the test clock, and `POST {"advance_days": 46}` advances it. */
export function testClockRoute(logger: Logger, testClock: Pick<ClockAdvance, 'advance' | 'readTime'>): OperatorRoute {
  return {
    path: '/test-clock',
    name: 'test-clock',
    GET: () => successOutcome(testClock.readTime()),
    POST: async (body, _text, { actor }) => {
      const { advance_days: days, ...others } = Object(body) as Readonly<Record<string, unknown>>;
      if (Object.keys(others).length > 0) {
        return invalidRequest('body', 'must be an object with no other member than advance_days');
      }
      const advanced = await testClock.advance(days, actor);
      if (advanced.ok) logger.info({ advancedDays: advanced.value.advanced_days }, 'test clock advanced');
      return advanced;
    },
  };
}
