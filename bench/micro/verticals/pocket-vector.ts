import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import { merge, noPocketFields } from '../../../src/verticals/pocket-vector.ts';
import { validateFields } from '../../../src/verticals/validate-fields.ts';
import { drawBorrower } from '../../population/borrower.ts';
import { seededRandom } from '../../population/random.ts';
import type { Micro } from '../micro.ts';
import { today } from '../offers/borrowers.ts';

const calls = 1_000;

export const mergeMicro: Micro = {
  name: 'verticals/pocket-vector: merge all fields of a borrower',
  call: 'one submission into a session without fields',
  prepare: () => {
    const random = seededRandom(3);
    const submitted = Array.from(
      { length: calls },
      () => validateFields(personalLoans, drawBorrower(random), today).changes,
    );
    const nothing = noPocketFields(personalLoans);
    return {
      calls,
      run: () => {
        let written = 0;
        for (const changes of submitted) {
          const merged = merge(nothing, changes);
          if (merged[changes[0]!] === changes[1]) written += merged.length;
        }
        return written;
      },
    };
  },
};
