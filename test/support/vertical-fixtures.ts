import { equipmentLeasesFixture } from './equipment-leases-fixture.ts';
import { personalLoansFixture } from './personal-loans-fixture.ts';
import type { VerticalFixture } from './vertical-fixture.ts';

/** Every vertical the contract suite runs for. */
export const allFixtures: readonly VerticalFixture[] = [personalLoansFixture, equipmentLeasesFixture];
