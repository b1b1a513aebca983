import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isValidAccountName } from '../../src/auth/api-key.ts';
import { CatalogArchive } from '../../src/catalogs/catalog-archive.ts';
import { CatalogStore, InvalidCatalogError } from '../../src/catalogs/catalog-store.ts';
import { computeCatalogVersion } from '../../src/catalogs/catalog-version.ts';
import { compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { parseCatalog } from '../../src/catalogs/parse-catalog.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Members of the example catalogs that tests change. */
interface ChangeableOffer {
  id: string;
  name?: string;
  legal?: string;
  features: string[];
  criteria: Record<string, unknown>[];
  budget?: Record<string, unknown>;
  payout_usd: number;
  loan_type?: string;
  monthly_fee?: number;
  bonus?: { requirement: string };
  compensation_disclosure?: string;
  terms: Record<string, { upfront_premium_percent?: number; annual_premium_percent?: number }>;
}

interface ChangeableCatalog {
  disclosure: string;
  state_rules?: Record<string, { min_age?: number }>;
  lenders: { name: string; nmls_id?: string; offers: ChangeableOffer[] }[];
}

type Change = (offer: ChangeableOffer, catalog: ChangeableCatalog) => unknown;

/**
 * Returns a catalog of a vertical with one lender of the example catalog or of the sandbox catalog, after a change of the lender's first
 * offer for which `isWanted` returns true.
 */
function catalogWith(
  vertical: Vertical,
  change: Change,
  isWanted: (offer: ChangeableOffer) => boolean = () => true,
  mode: 'live' | 'test' = 'live',
): ChangeableCatalog {
  const source = builtInVerticals
    .createCatalogSources(vertical, builtInVerticals.exampleCatalogFile(vertical))
    .find((each) => each.mode === mode)!;
  assert.ok('file' in source);
  const catalog = JSON.parse(readFileSync(source.file, 'utf8')) as ChangeableCatalog;
  const lender = catalog.lenders.find(({ offers }) => offers.some(isWanted))!;
  catalog.lenders = [lender];
  change(lender.offers.find(isWanted)!, catalog);
  return catalog;
}

const verticalOf = (segment: string): Vertical => builtInVerticals.verticals.find((each) => each.segment === segment)!;

/** Asserts that a new catalog is refused with one error, and that a stored catalog is accepted with one warning. */
function assertRefusedUnlessStored(catalog: ChangeableCatalog, vertical: Vertical, line: RegExp): void {
  const text = JSON.stringify(catalog);
  const parsed = parseCatalog(text, builtInVerticals.withProduct(vertical));
  assert.ok(!parsed.ok, `accepted, but expected ${line}`);
  assert.equal(parsed.errors.length, 1, parsed.errors.join('\n'));
  assert.match(parsed.errors[0]!, line);
  const stored = parseCatalog(text, builtInVerticals.withProduct(vertical), undefined, true);
  assert.ok(stored.ok);
  assert.deepEqual(stored.warnings, parsed.errors);
}

function warningsOf(catalog: ChangeableCatalog, vertical: Vertical): readonly string[] {
  const parsed = parseCatalog(JSON.stringify(catalog), builtInVerticals.withProduct(vertical));
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.errors.join('\n'));
  return parsed.warnings;
}

describe('text that visitors see has no character that hides or reorders other characters', () => {
  const characters = {
    'right-to-left override': '\u202e',
    'first strong isolate': '\u2068',
    'right-to-left mark': '\u200f',
    'zero-width space': '\u200b',
    'zero-width joiner': '\u200d',
    'byte order mark': '\ufeff',
    'soft hyphen': '\u00ad',
    'word joiner': '\u2060',
    'combining grapheme joiner': '\u034f',
    'Hangul filler': '\u3164',
    'tag character': '\u{e0041}',
    'line separator': '\u2028',
    'private use': '\ue000',
  };
  const append = (to: object | undefined, member: string, text: string) => {
    const part = to as Record<string, string | undefined>;
    part[member] = `${part[member] ?? 'a'}${text}`;
  };
  const places: readonly [path: string, put: (text: string) => Change, only?: string][] = [
    [
      'lenders[0].name',
      (text) =>
        (_, { lenders }) =>
          append(lenders[0], 'name', text),
    ],
    ['disclosure', (text) => (_, catalog) => append(catalog, 'disclosure', text)],
    ['.legal', (text) => (offer) => append(offer, 'legal', text)],
    ['.name', (text) => (offer) => append(offer, 'name', text), 'credit-cards'],
    ['.bonus.requirement', (text) => (offer) => append(offer.bonus, 'requirement', text), 'banking'],
    ['.compensation_disclosure', (text) => (offer) => append(offer, 'compensation_disclosure', text), 'find-advisor'],
  ];
  for (const [name, character] of Object.entries(characters)) {
    test(`rejects a ${name} in catalogs and account names`, () => {
      assert.ok(!isValidAccountName(`a${character}b`));
      for (const [path, put, only] of places) {
        for (const vertical of builtInVerticals.verticals) {
          if (only !== undefined && only !== vertical.segment) continue;
          // The text of a bank must contain the name of the bank, so a changed name has a second error.
          if (vertical.segment === 'banking' && path === 'lenders[0].name') continue;
          const isWanted = (offer: ChangeableOffer) => only !== 'banking' || offer.bonus !== undefined;
          const catalog = catalogWith(vertical, put(character), isWanted);
          const escaped = path.replaceAll(/[.[\]]/g, '\\$&');
          const line = new RegExp(
            `${path.startsWith('.') ? '' : '^'}${escaped}: must not contain invisible characters`,
          );
          assertRefusedUnlessStored(catalog, vertical, line);
        }
      }
    });
  }

  test('accepts letters of all scripts and emojis', () => {
    for (const text of ['Crédit Ærø', '日本銀行', 'בנק', 'بنك', '⭐️ Bank', 'Bank 🏦']) {
      assert.ok(isValidAccountName(text), text);
      const vertical = verticalOf('personal-loans');
      const catalog = catalogWith(vertical, (_, { lenders }) => Object.assign(lenders[0]!, { name: text }));
      assert.deepEqual(warningsOf(catalog, vertical), []);
    }
  });

  test('rejects a blank disclosure and a disclosure of several lines', () => {
    const vertical = verticalOf('personal-loans');
    for (const [text, line] of [
      [' ', /^disclosure: must not be blank$/],
      ['a\nb', /^disclosure: must not contain invisible/],
    ] as const) {
      const blank = catalogWith(vertical, (_, catalog) => Object.assign(catalog, { disclosure: text }));
      assertRefusedUnlessStored(blank, vertical, line);
    }
  });
});

describe('credit offers do not depend on age beyond the capacity to contract', () => {
  const age = (min_age: number) => ({ field: 'birthdate', min_age });
  const states = (condition: 'in' | 'not_in', ...codes: string[]) => ({ field: 'state', [condition]: codes });
  // Every advisor needs a criterion on the state, so the catalogs of this test are not valid there.
  for (const vertical of builtInVerticals.verticals.filter(({ segment }) => segment !== 'find-advisor')) {
    const isCredit = vertical.segment !== 'banking';
    for (const [criteria, limit] of [
      [[age(18)], null],
      [[age(19)], 18],
      [[age(21)], 18],
      [[age(62)], 18],
      [[states('in', 'AL', 'NE'), age(19)], null],
      [[states('in', 'AL', 'NE'), age(20)], 19],
      [[states('in', 'MS', 'PR'), age(21)], null],
      [[age(21), states('in', 'MS', 'AL')], 19],
      [[age(22), states('in', 'MS')], 21],
      [[states('in', 'MS', 'TX'), states('not_in', 'TX'), age(21)], null],
      [[states('in', 'MS', 'TX'), age(21)], 18],
      [[states('not_in', 'TX'), age(19)], 18],
    ] as const) {
      test(`${vertical.segment}: ${JSON.stringify(criteria)}`, () => {
        const catalog = catalogWith(vertical, (offer) => Object.assign(offer, { criteria }));
        if (!isCredit || limit === null) assert.deepEqual(warningsOf(catalog, vertical), []);
        else {
          const line = new RegExp(String.raw`\.criteria\[\d\]\.min_age: must be at most ${limit}, the age of capacity`);
          assertRefusedUnlessStored(catalog, vertical, line);
        }
      });
    }

    test(`${vertical.segment}: rules of states`, () => {
      for (const [state, min_age, isAllowed] of [
        ['AL', 19, true],
        ['AL', 20, false],
        ['MS', 21, true],
        ['PR', 22, false],
        ['CA', 18, true],
        ['CA', 21, false],
      ] as const) {
        const rules = { state_rules: { [state]: { min_age } } };
        const catalog = catalogWith(vertical, (_, each) => Object.assign(each, rules));
        if (!isCredit || isAllowed) assert.deepEqual(warningsOf(catalog, vertical), []);
        else assertRefusedUnlessStored(catalog, vertical, new RegExp(`^state_rules.${state}.min_age: must be at most`));
      }
    });
  }

  test('warns about criteria that exclude retired people', () => {
    for (const segment of ['personal-loans', 'credit-cards']) {
      const vertical = verticalOf(segment);
      for (const [criterion, isWarned] of [
        [{ field: 'employment_status', in: ['employed', 'self_employed'] }, true],
        [{ field: 'employment_status', not_in: ['retired'] }, true],
        [{ field: 'employment_status', in: ['employed', 'retired'] }, false],
        [{ field: 'employment_status', not_in: ['other'] }, false],
      ] as const) {
        const catalog = catalogWith(vertical, (offer) => Object.assign(offer, { criteria: [criterion] }));
        const warnings = warningsOf(catalog, vertical);
        assert.equal(warnings.length, Number(isWarned), JSON.stringify(criterion));
        if (isWarned) assert.match(warnings[0]!, /\.criteria\[0\]: excludes retired people/);
      }
    }
  });
});

describe('warnings about the text of an offer', () => {
  const legal =
    (text: string): Change =>
    (offer) =>
      Object.assign(offer, { legal: `${offer.legal ?? ''} ${text}` });
  const nmlsId =
    (instead: string): Change =>
    (offer, { lenders }) =>
      Object.assign(offer, { legal: offer.legal!.replaceAll(lenders[0]!.nmls_id!, instead) });
  const hasFee = ({ monthly_fee = 0 }: ChangeableOffer) => monthly_fee > 0;
  for (const [segment, change, line, isWanted] of [
    ['personal-loans', legal('Rates from 1.23% APR.'), /\.legal: contains 1.23 % as APR/, undefined],
    ['credit-cards', legal('Penalty APR of 35.99%.'), /\.legal: contains 35.99 % as APR/, undefined],
    ['mortgage', legal('An annual percentage rate of 1.5%.'), /\.legal: contains 1.5 % as APR/, undefined],
    ['banking', legal('Earn 9.99% APY.'), /\.legal: contains 9.99 % as APY/, undefined],
    ['banking', legal('Up to 9.99 % annual percentage yield.'), /\.legal: contains 9.99 % as APY/, undefined],
    ['personal-loans', legal('A fee of 99% and a 1.23% discount. No APR is guaranteed.'), null, undefined],
    ['mortgage', legal('Insurance above 80 % of the value.'), null, undefined],
    ['banking', legal('This account is free.'), /\.legal: contains the word "free"/, hasFee],
    ['banking', ({ features }) => features.push('free_checking'), /\.features: contains/, hasFee],
    ['banking', (offer) => Object.assign(offer, { name: `${offer.name} Free` }), /\.name: contains/, hasFee],
    ['banking', legal('Freedom of choice.'), null, hasFee],
    ['banking', legal('This account is free.'), null, ({ monthly_fee }) => monthly_fee === 0],
    ['mortgage', nmlsId('1'), /NMLS id/, undefined],
    ['mortgage', nmlsId('$&0'), /NMLS id/, undefined],
  ] as readonly [string, Change, RegExp | null, ((offer: ChangeableOffer) => boolean) | undefined][]) {
    test(`${segment}: ${line === null ? 'no warning' : line.source}`, () => {
      const vertical = verticalOf(segment);
      const warnings = warningsOf(catalogWith(vertical, change, isWanted), vertical);
      if (line === null) assert.deepEqual(warnings, []);
      else {
        assert.equal(warnings.length, 1, warnings.join('\n'));
        assert.match(warnings[0]!, line);
      }
    });
  }

  test('warns about FHA and USDA loans without an upfront or an annual premium', () => {
    const vertical = verticalOf('mortgage');
    for (const type of ['fha', 'usda']) {
      for (const member of ['upfront_premium_percent', 'annual_premium_percent'] as const) {
        const change: Change = ({ terms }) => {
          for (const term of Object.values(terms)) delete term[member];
        };
        const isWanted = ({ loan_type }: ChangeableOffer) => loan_type === type;
        const warnings = warningsOf(catalogWith(vertical, change, isWanted), vertical).filter(
          (each) => !each.includes('legal'),
        );
        assert.equal(warnings.length, 1);
        assert.match(
          warnings[0]!,
          new RegExp(String.raw`\.bands\.[^.]+\.${member}: .* each ${type} loan has this premium`),
        );
      }
    }
  });

  test('the example and sandbox catalogs have no warnings', () => {
    for (const vertical of builtInVerticals.verticals) {
      for (const source of builtInVerticals.createCatalogSources(
        vertical,
        builtInVerticals.exampleCatalogFile(vertical),
      )) {
        assert.ok('file' in source);
        const parsed = parseCatalog(readFileSync(source.file, 'utf8'), builtInVerticals.withProduct(vertical));
        assert.deepEqual(parsed.ok ? parsed.warnings : parsed.errors, []);
      }
    }
  });
});

describe('a budget covers the largest click of its offer', () => {
  for (const vertical of builtInVerticals.verticals) {
    for (const mode of ['live', 'test'] as const) {
      test(`${vertical.segment}, ${mode} catalog`, () => {
        const isWanted = ({ payout_usd }: ChangeableOffer) => payout_usd > 0;
        const withBudget = (budget?: Record<string, unknown>) =>
          catalogWith(
            vertical,
            (offer) => {
              if (budget === undefined) delete offer.budget;
              else offer.budget = { ...budget, pacing: 'asap' };
            },
            isWanted,
            mode,
          );
        const catalog = withBudget();
        const parsed = parseCatalog(JSON.stringify(catalog), builtInVerticals.withProduct(vertical));
        assert.ok(parsed.ok);
        const compiled = compileCatalog(parsed.catalog, builtInVerticals.withProduct(vertical), { mode });
        const { id } = catalog.lenders[0]!.offers.find(isWanted)!;
        const { maxMicros } = compiled.computeClickValueRange(compiled.findOfferIndex(id));
        const most = Math.ceil(maxMicros / 10_000) / 100;
        const less = Math.round((most - 0.01) * 100) / 100;
        assert.deepEqual(warningsOf(withBudget({ per_day_usd: most, per_month_usd: most }), vertical), []);
        for (const budget of [{ per_day_usd: less }, { per_day_usd: less, per_month_usd: most }]) {
          assertRefusedUnlessStored(
            withBudget(budget),
            vertical,
            /\.budget\.per_day_usd: must be at least [\d.]+, the largest/,
          );
        }
        assertRefusedUnlessStored(
          withBudget({ per_month_usd: less }),
          vertical,
          /\.budget\.per_month_usd: must be at least/,
        );
      });
    }
  }
});

describe('a stored catalog', () => {
  const vertical = verticalOf('personal-loans');
  const criteria = [{ field: 'birthdate', min_age: 25 }];
  const refused = JSON.stringify(catalogWith(vertical, (offer) => Object.assign(offer, { criteria })));
  const valid = JSON.stringify(catalogWith(vertical, () => {}));

  function openStore(folder: string, text: string) {
    const file = join(folder, 'offers.json');
    writeFileSync(file, text);
    const warnings: [file: string, warning: string][] = [];
    const store = new CatalogStore({
      registry: builtInVerticals,
      archiveFolder: join(folder, 'catalogs'),
      clock: new ManualClock(),
      catalogs: [{ vertical, mode: 'live', file }],
      onWarnings: (source, lines) => {
        for (const line of lines) warnings.push(['file' in source ? source.file : '', line]);
      },
    });
    return { store, file, warnings };
  }

  /** Stores a catalog in the data folder, as a version of the service before these rules did. */
  function storeRefusedCatalog(folder: string): string {
    const archive = new CatalogArchive(join(folder, 'catalogs'), [builtInVerticals.withProduct(vertical)]);
    archive.createFolder();
    const catalog = JSON.parse(refused);
    const version = computeCatalogVersion(catalog, 'live');
    archive.storeCatalog(version, { vertical, mode: 'live', catalog });
    return version;
  }

  test('starts with warnings, and the same catalog as a new file is refused', (t) => {
    const folder = temporaryFolder(t);
    assert.throws(
      () => openStore(folder, refused),
      (error: Error) => error instanceof InvalidCatalogError && /must be at most 18/.test(error.errors[0]!),
    );
    const version = storeRefusedCatalog(folder);
    const { store, file, warnings } = openStore(folder, refused);
    assert.deepEqual(store.currentCatalogVersions, [version]);
    assert.equal(warnings.length, 1);
    assert.equal(warnings[0]![0], file);
    assert.match(warnings[0]![1], /\.criteria\[0\]\.min_age: must be at most 18/);
    // A change of any value makes the file a new catalog.
    const changed = refused.replace('"disclosure":"', '"disclosure":"New. ');
    assert.throws(() => openStore(folder, changed), InvalidCatalogError);
  });

  test('is accepted by a reload, and its replacement does not remove it', async (t) => {
    const folder = temporaryFolder(t);
    const version = storeRefusedCatalog(folder);
    const { store, file, warnings } = openStore(folder, valid);
    t.after(() => store.close());
    assert.ok(store.findCatalogByVersion(version), 'the archive loads a replaced catalog');
    assert.deepEqual(warnings, []);
    writeFileSync(file, refused.replace('"disclosure":"', '"disclosure":"New. '));
    const invalid = await store.reloadCatalog(vertical.number, 'live');
    assert.ok(!invalid.ok && /must be at most 18/.test(invalid.errors[0]!));
    writeFileSync(file, refused);
    const reloaded = await store.reloadCatalog(vertical.number, 'live');
    assert.ok(reloaded.ok && reloaded.changed && reloaded.version === version);
    assert.deepEqual(
      warnings,
      reloaded.warnings.map((line) => [file, line]),
    );
    assert.equal(warnings.length, 1);
  });
});
