import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateCatalog } from '../../bench/catalogs/generate-catalog.ts';
import { computeCatalogStatistics } from '../../src/catalogs/catalog-statistics.ts';
import { validateCatalogValue } from '../../src/catalogs/parse-catalog.ts';
import { compileMatchTables } from '../../src/matching/match-tables.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';

const catalog = generateCatalog({ seed: 3, offers: 200, vertical: personalLoans });

for (const [work, run] of [
  ['judging', (onShare) => validateCatalogValue(catalog, personalLoans, onShare)],
  ['compiling', (onShare) => compileMatchTables(catalog, personalLoans, onShare)],
  ['describing', (onShare) => computeCatalogStatistics(catalog, personalLoans, onShare)],
] as const satisfies readonly (readonly [string, (onShare: (share: number) => void) => unknown])[]) {
  test(`${work} a catalog tells in many small steps which share is done`, () => {
    const shares = [0];
    run((share) => shares.push(share));
    const steps = shares.slice(1).map((share, at) => share - shares[at]!);
    assert.ok(steps.length > 50, `${steps.length}`);
    assert.ok(Math.min(...steps) >= 0 && Math.max(...steps) <= 0.25, `${steps}`);
    assert.ok(shares.at(-1)! > 0.6 && shares.at(-1)! <= 1, `${shares.at(-1)}`);
  });
}
