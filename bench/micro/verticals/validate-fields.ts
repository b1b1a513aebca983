import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import { validateFields } from '../../../src/verticals/validate-fields.ts';
import { drawBorrower } from '../../population/borrower.ts';
import { seededRandom } from '../../population/random.ts';
import type { MicroBenchmark } from '../micro.ts';

const validateFieldsCalls = 200;

export const validateFieldsBenchmark: MicroBenchmark = {
  name: 'verticals/validate-fields: all fields of a borrower',
  call: 'one submission',
  prepare: () => {
    const random = seededRandom(3);
    const borrowers = Array.from({ length: validateFieldsCalls }, () => drawBorrower(random));
    return {
      calls: validateFieldsCalls,
      run: () => {
        let accepted = 0;
        for (const borrower of borrowers) accepted += validateFields(personalLoans, borrower, 20260101).accepted.length;
        return accepted;
      },
    };
  },
};
