import type { FieldVector } from '../../src/domain/field-vector.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { type Random, randomBorrower } from '../support/random-catalog.ts';
import { drawDepositor } from './banking/deposit-fixtures.ts';
import { drawVisitor } from './find-advisor/advisor-fixtures.ts';
import { drawBorrower } from './mortgage/mortgage-fixtures.ts';

/** Functions that draw borrowers who get many offers, for verticals in which random borrowers get few. */
const drawFunctions: Readonly<Record<string, (random: Random, absentChance: number) => FieldVector>> = {
  banking: drawDepositor,
  'find-advisor': (random, absentChance) =>
    random() < 0.5
      ? drawVisitor(random, absentChance)
      : drawVisitor(random, absentChance).with(1, Math.floor(6_000_000 * random())),
  mortgage: drawBorrower,
};

/** Returns a function that draws a borrower of a vertical. Each optional field is absent with the probability `absentChance`. */
export function createDraw(vertical: Vertical, absentChance: number): (random: Random) => FieldVector {
  const draw = drawFunctions[vertical.segment];
  return (random) => (draw ? draw(random, absentChance) : randomBorrower(random, vertical, absentChance));
}
