import { equipmentLeasesFixture } from './equipment-leases-fixture.ts';
import { personalLoansFixture } from './personal-loans-fixture.ts';
import type { VerticalFixture } from './vertical-fixture.ts';

/** Fixtures of all verticals that the contract suite tests. */
export const allFixtures: readonly VerticalFixture[] = [personalLoansFixture, equipmentLeasesFixture];
