import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { computeCatalogVersion } from '../../src/catalogs/catalog-version.ts';
import type { LoanCatalog as CatalogFile } from '../../src/verticals/personal-loans/offer-schema.ts';
import { image } from '../catalogs/logo-folder.ts';
import { catalogOf, plainBand, plainOffer } from '../matching/loan-fixtures.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { assertFailed, runMarketplace } from './run-marketplace.ts';

/** Writes a catalog, or the text of one, with these logos beside it. Returns the path of the file. */
function writeCatalog(t: TestContext, content: unknown, logos: Readonly<Record<string, string>> = {}): string {
  const folder = temporaryFolder(t);
  const file = join(folder, 'offers.json');
  writeFileSync(file, typeof content === 'string' ? content : pretty(content));
  if (Object.keys(logos).length > 0) mkdirSync(join(folder, 'logos'));
  for (const [name, logo] of Object.entries(logos)) writeFileSync(join(folder, 'logos', name), logo);
  return file;
}

const validate = (file: string, ...options: string[]) => runMarketplace(['catalog', 'validate', file, ...options]);

const pretty = (catalog: unknown) => JSON.stringify(catalog, null, 2);
const validCatalog = catalogOf([plainOffer(), plainOffer({ id: 'other' })]);
const validLine = (file: string, catalog: CatalogFile) =>
  `${file} is valid: ${catalog.lenders.flatMap(({ offers }) => offers).length} offers of ${catalog.lenders.length} lenders for personal-loans; version ${computeCatalogVersion(catalog, 'live')} for live keys, ${computeCatalogVersion(catalog, 'test')} for test keys\n`;

/** Returns the line number of the first occurrence of a text, from 1. */
const lineOf = (text: string, part: string) => text.slice(0, text.indexOf(part)).split('\n').length;

describe('validate', () => {
  test('prints the size and the versions of a valid catalog file', async (t) => {
    const file = writeCatalog(t, validCatalog, { 'plain.svg': image('red') });
    assert.deepEqual(await validate(file), { code: 0, stdout: validLine(file, validCatalog), stderr: '' });
  });

  test('lists lenders with a missing or unusable logo in a valid file', async (t) => {
    const lenders = ['missing', 'page', 'valid'].map((name, index) => {
      const [lender] = catalogOf([plainOffer({ id: name })]).lenders;
      return { ...lender!, name: `Lender ${index}`, logo: `${name}.svg` };
    });
    const catalog = catalogOf([], { lenders });
    const file = writeCatalog(t, catalog, { 'page.svg': '<html></html>', 'valid.svg': image('red') });
    const [missingLine, pageLine] = ['missing.svg', 'page.svg'].map((logo) => lineOf(pretty(catalog), logo));
    const stdout = `${validLine(file, catalog)}${file}:${missingLine}:7: note: lenders[0].logo: logos/missing.svg does not exist, so a monogram is shown
${file}:${pageLine}:7: note: lenders[1].logo: logos/page.svg is not a valid SVG image: it has no svg element of http://www.w3.org/2000/svg at its root (line 1), so a monogram is shown
`;
    assert.deepEqual(await validate(file), { code: 0, stdout, stderr: '' });
    const { valid, faults, notes } = JSON.parse((await validate(file, '--json')).stdout);
    assert.deepEqual([valid, faults], [true, []]);
    assert.deepEqual(
      notes.map(({ path, line }: { path: string; line: number }) => [path, line]),
      [
        ['lenders[0].logo', missingLine],
        ['lenders[1].logo', pageLine],
      ],
    );
  });

  test('prints warnings of a valid file and of an invalid file with their lines', async (t) => {
    const offer = plainOffer({ criteria: [{ field: 'employment_status', not_in: ['retired'] }] });
    for (const [catalog, isValid] of [
      [catalogOf([offer]), true],
      [catalogOf([{ ...offer, stars: 9 }, offer]), false],
    ] as const) {
      const file = writeCatalog(t, catalog, { 'plain.svg': image('red') });
      const line = lineOf(pretty(catalog), '"field"') - 1;
      const { code, stdout } = await validate(file);
      assert.equal(code, isValid ? 0 : 1);
      assert.match(
        stdout,
        /^\S+:\d+:\d+: warning: lenders\[0\]\.offers\[\d\]\.criteria\[0\]: excludes retired people/m,
      );
      const { warnings, faults, valid } = JSON.parse((await validate(file, '--json')).stdout);
      assert.deepEqual([valid, faults.length, warnings.length], [isValid, isValid ? 0 : 1, 1]);
      if (isValid) assert.equal(warnings[0].line, line);
    }
  });

  test('reports a missing logo folder once, not for each lender', async (t) => {
    const file = writeCatalog(t, validCatalog);
    const position = `${file}:${lineOf(pretty(validCatalog), '"lenders"')}:3`;
    const note = `${position}: note: lenders: there is no folder logos beside the file, so a monogram is shown for every lender\n`;
    assert.deepEqual(await validate(file), { code: 0, stdout: validLine(file, validCatalog) + note, stderr: '' });
  });

  test('lists errors and duplicate properties in the order of the file, with line, column and path', async (t) => {
    const text = pretty(validCatalog)
      .replace('"stars": 4', '"stars": 9')
      .replace('"features": []', '"feature": []')
      .replace('"id": "other"', '"id": "plain"')
      .replace('"disclosure": "Made up for tests."', '"disclosure": "",\n  "disclosure": ""');
    const file = writeCatalog(t, text);
    const { code, stdout, stderr } = await validate(file);
    assert.deepEqual([code, stderr], [1, `marketplace: ${file} is not a valid catalog: 5 errors\n`]);
    const first = 'lenders[0].offers[0]';
    const disclosure = lineOf(text, '"disclosure"') + 1;
    assert.deepEqual(
      stdout
        .replaceAll(/: must (NOT|be|have|not).*/g, '')
        .trimEnd()
        .split('\n'),
      [
        `${file}:${disclosure}:3: disclosure`,
        `${file}:${disclosure}:3: disclosure: duplicate member of the same object`,
        `${file}:${lineOf(text, '"id": "plain"') - 1}:9: ${first}`,
        `${file}:${lineOf(text, '"stars": 9')}:11: ${first}.stars`,
        `${file}:${lineOf(text, '"feature": []')}:11: ${first}.feature: is not a member of the format`,
      ],
    );
  });

  test('escapes control characters in names and excerpts that are printed from a catalog file', async (t) => {
    const member = '"\\u001b[2J\\u009b1m":1';
    for (const text of [`{${member},${member}}`, '{"format": \u001b[2J']) {
      const { code, stdout, stderr } = await validate(writeCatalog(t, text));
      assert.equal(code, 1);
      assert.match(stdout, /\\u001b\[2J/);
      assert.match(stdout.replaceAll('\n', ''), /^\P{Cc}*$/u);
      assert.match(stderr, /^\P{Cc}*\n$/u);
    }
  });

  test('prints the position of a syntax error, or line 1 and column 1 if the nesting is too deep', async (t) => {
    for (const [text, line, column, problem] of [
      ['{\n  "format": 1,\n  "vertical": "perso', 3, 21, /^is not JSON: /],
      [`${'['.repeat(3_000)}${']'.repeat(3_000)}`, 1, 1, /^must be nested at most /],
    ] as const) {
      const { code, stdout, stderr } = await validate(writeCatalog(t, text), '--json');
      assert.match(JSON.parse(stderr).error.message, /: 1 error$/);
      const [error, ...others] = JSON.parse(stdout).faults;
      assert.deepEqual([code, error.path, error.line, error.column, others], [1, 'catalog', line, column, []]);
      assert.match(error.problem, problem);
    }
  });

  test('limits the list of catalog errors and prints how many errors are omitted', async (t) => {
    const lender = '{"name":"a","name":"b","logo":"a.svg","offers":[]},\n';
    const text = pretty(validCatalog)
      .replace('"lenders": [', `"lenders": [${lender.repeat(bounds.catalogErrorsReportedMax)}`)
      .replace('"format": 1', '"format": 2');
    const { code, stdout, stderr } = await validate(writeCatalog(t, text), '--json');
    const { faults, rest } = JSON.parse(stdout);
    assert.deepEqual([code, faults.length, faults[0].path], [1, bounds.catalogErrorsReportedMax, 'format']);
    // Errors: the format; an empty list of offers and a duplicate member of each lender; a repeated name of each lender but one.
    assert.equal(rest, `and ${2 * bounds.catalogErrorsReportedMax} more`);
    assert.match(JSON.parse(stderr).error.message, /: 1000 errors and [^\n]+ more$/);
  });

  test('reports in one line that a file is missing or is a folder', async (t) => {
    for (const file of [`${writeCatalog(t, '')}.missing`, tmpdir()]) {
      assertFailed(await validate(file), 1, /^marketplace: [^\n]+ (does not exist|is a folder)\n$/);
    }
  });
});

describe('stats', () => {
  const catalog: CatalogFile = catalogOf(
    [
      plainOffer({ id: 'everywhere', payout_usd: 100 }),
      plainOffer({
        id: 'some-states',
        criteria: [
          { field: 'state', in: ['CA', 'NY', 'TX'] },
          { field: 'loan_purpose', in: ['wedding'] },
        ],
        joint_applications: 'required',
        min_credit_score: 725,
        payout_model: 'cost_per_click',
        payout_usd: 2.5,
        bands: { '660-699': plainBand(), '700-749': plainBand({ note_rate_percent: { min: 20, max: 30 } }) },
      }),
    ],
    { state_rules: { NY: { max_apr_percent: 25 }, CA: { min_amount: 50_001 } } },
  );

  test('catalog stats prints prices and, for each value of a field, the number of matching offers', async (t) => {
    const { code, stdout, stderr } = await runMarketplace(['catalog', 'stats', writeCatalog(t, catalog), '--json']);
    assert.deepEqual([code, stderr], [0, '']);
    const stats = JSON.parse(stdout);
    assert.deepEqual([stats.lenders, stats.offers, stats.never_shown], [1, 2, []]);
    assert.deepEqual(stats.payouts.cost_per_click, { offers: 1, usd: { min: 2.5, median: 2.5, max: 2.5 } });
    const coverage = (name: string) => stats.coverage.find(({ field }: { field: string }) => field === name);
    // In New York the expensive offer is above the APR cap; in California no loan is large enough.
    const { CA, NY, TX, WA } = coverage('state').offers;
    assert.deepEqual({ CA, NY, TX, WA }, { CA: 0, NY: 1, TX: 2, WA: 1 });
    assert.deepEqual(coverage('co_borrower'), { field: 'co_borrower', offers: { false: 1, true: 2 }, not_told: 1 });
    const { wedding, moving } = coverage('loan_purpose').offers;
    assert.deepEqual({ wedding, moving }, { wedding: 2, moving: 1 });
    assert.equal(coverage('education_level'), undefined);
    assert.equal(stats.grouped_by, 'band');
    const band = (name: string) => stats.groups.find((one: { name: string }) => one.name === name);
    assert.equal(band('660-699').offers, 0);
    assert.deepEqual(band('700-749'), {
      name: '700-749',
      offers: 2,
      figures: {
        note_rate_percent: { min: 10, median: 16, max: 30 },
        apr_percent: { min: 10, median: 16, max: 30 },
        fee_percent: { min: 0, median: 0, max: 0 },
        approval: { min: 0.4, median: 0.6, max: 0.8 },
        click_usd: { min: 2.5, median: 3.75, max: 5 },
      },
    });
  });

  test('lists offers that no borrower can see', async (t) => {
    const bands = { '700-749': plainBand({ note_rate_percent: { min: 36, max: 36 }, origination_fee_percent: 5 }) };
    const file = writeCatalog(t, catalogOf([plainOffer(), plainOffer({ id: 'too-expensive', bands })]));
    const { code, stdout } = await runMarketplace(['catalog', 'stats', file]);
    assert.equal(code, 0);
    assert.match(stdout, /\nnever shown +too-expensive\n/);
  });

  test('catalog stats rejects an invalid file and names the command that lists the errors', async (t) => {
    const message = /is not a valid catalog: \d+ errors?; list the errors with marketplace catalog validate\n$/;
    assertFailed(await runMarketplace(['catalog', 'stats', writeCatalog(t, '{}')]), 1, message);
  });
});
