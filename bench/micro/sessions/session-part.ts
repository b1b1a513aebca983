import { RankingArena } from '../../../src/sessions/kept-rankings.ts';
import type { Session } from '../../../src/sessions/session.ts';
import { SessionShard } from '../../../src/sessions/session-part.ts';
import { InternTable } from '../../../src/sessions/shared-values.ts';
import { parseSubIdWords, subIdWordCount } from '../../../src/sessions/sub-id-words.ts';
import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import type { Tenant } from '../../../src/verticals/tenant.ts';
import { validateFields } from '../../../src/verticals/validate-fields.ts';
import { subIdsAt } from '../../../test/support/sub-id-at.ts';
import { drawBorrower } from '../../population/borrower.ts';
import { seededRandom } from '../../population/random.ts';
import type { MicroBenchmark } from '../micro.ts';
import { fixedToday } from '../offers/borrowers.ts';

const mergeCalls = 1_000;

const mergeTenant: Tenant = { account: 1, vertical: personalLoans, mode: 'live' };

export const mergeBenchmark: MicroBenchmark = {
  name: 'sessions/session-part: merge all fields of a borrower',
  call: 'one submission into a session that is held, and the fields as they are then',
  prepare: () => {
    const random = seededRandom(3);
    const submitted = Array.from(
      { length: mergeCalls },
      () => validateFields(personalLoans, drawBorrower(random), fixedToday).changes,
    );
    const sessions = createStoredSessions();
    return {
      calls: mergeCalls,
      run: () => {
        let written = 0;
        for (let at = 0; at < mergeCalls; at++) {
          const changes = submitted[at]!;
          const merged = sessions[at]!.mergeFields(changes)!;
          if (merged[changes[0]!] === changes[1]) written += merged.length;
        }
        return written;
      },
    };
  },
};

function createStoredSessions(): Session[] {
  const part = new SessionShard({
    tenants: new InternTable(),
    rankings: new RankingArena(),
    fieldsMax: personalLoans.fields.length,
  });
  const id = new Int32Array(subIdWordCount);
  return subIdsAt(Date.now(), mergeCalls).map((text) => {
    parseSubIdWords(text, id);
    part.add(id, mergeTenant);
    return part.get(id, text)!;
  });
}
