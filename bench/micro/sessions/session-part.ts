import { KeptRankings } from '../../../src/sessions/kept-rankings.ts';
import type { Session } from '../../../src/sessions/session.ts';
import { SessionPart } from '../../../src/sessions/session-part.ts';
import { SharedValues } from '../../../src/sessions/shared-values.ts';
import { readSubIdWords, subIdWords } from '../../../src/sessions/sub-id-words.ts';
import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import type { Tenant } from '../../../src/verticals/tenant.ts';
import { validateFields } from '../../../src/verticals/validate-fields.ts';
import { subIdsAt } from '../../../test/support/sub-id-at.ts';
import { drawBorrower } from '../../population/borrower.ts';
import { seededRandom } from '../../population/random.ts';
import type { Micro } from '../micro.ts';
import { today } from '../offers/borrowers.ts';

const calls = 1_000;

const tenant: Tenant = { account: 1, vertical: personalLoans, mode: 'live' };

export const mergeMicro: Micro = {
  name: 'sessions/session-part: merge all fields of a borrower',
  call: 'one submission into a session that is held, and the fields as they are then',
  prepare: () => {
    const random = seededRandom(3);
    const submitted = Array.from(
      { length: calls },
      () => validateFields(personalLoans, drawBorrower(random), today).changes,
    );
    const sessions = heldSessions();
    return {
      calls,
      run: () => {
        let written = 0;
        for (let at = 0; at < calls; at++) {
          const changes = submitted[at]!;
          const merged = sessions[at]!.merge(changes)!;
          if (merged[changes[0]!] === changes[1]) written += merged.length;
        }
        return written;
      },
    };
  },
};

function heldSessions(): Session[] {
  const part = new SessionPart({
    tenants: new SharedValues(),
    rankings: new KeptRankings(),
    fieldsMax: personalLoans.fields.length,
  });
  const id = new Int32Array(subIdWords);
  return subIdsAt(Date.now(), calls).map((text) => {
    readSubIdWords(text, id);
    part.add(id, tenant);
    return part.get(id, text)!;
  });
}
