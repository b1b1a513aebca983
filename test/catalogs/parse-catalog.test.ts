import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { Settings } from 'typebox/system';
import { bounds } from '../../src/bounds.ts';
import { compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { parseCatalog, readCatalogText } from '../../src/catalogs/parse-catalog.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { subIdByteLength } from '../../src/ids/sub-id.ts';
import { ledgerRecordKind, parseLedgerRecord } from '../../src/ledger/ledger-record.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { LoanCatalog, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { catalogOf, plainBand, plainOffer } from '../matching/loan-fixtures.ts';
import { equipmentLeaseCatalog, equipmentLeases } from '../support/equipment-leases.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function errorsOf(catalog: unknown, vertical = personalLoans): readonly string[] {
  const parsed = parseCatalog(
    typeof catalog === 'string' ? catalog : JSON.stringify(catalog),
    builtInVerticals.withProduct(vertical),
  );
  return parsed.ok ? [] : parsed.errors;
}

/** Returns a valid catalog in which the value at a path is replaced, or deleted if the new value is undefined. */
function changed(path: readonly (string | number)[], value: unknown): unknown {
  const catalog: unknown = structuredClone(catalogOf([plainOffer()]));
  let part = catalog as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) part = part[step] as Record<string | number, unknown>;
  part[path.at(-1)!] = value;
  return catalog;
}

const offer = ['lenders', 0, 'offers', 0] as const;
const at = 'lenders[0].offers[0]';

test('returns a valid catalog unchanged', () => {
  const catalog = catalogOf([plainOffer()]);
  assert.deepEqual(parseCatalog(JSON.stringify(catalog), builtInVerticals.withProduct(personalLoans)), {
    ok: true,
    catalog,
    warnings: [],
  });
});

test('accepts any positive daily cap', () => {
  for (const daily_cap of [1, 250, 100_000_000]) assert.deepEqual(errorsOf(catalogOf([plainOffer({ daily_cap })])), []);
});

test('accepts budgets per day, per month or both', () => {
  for (const budget of [
    { per_day_usd: 5, pacing: 'asap' },
    { per_month_usd: bounds.budgetUsdMax, pacing: 'even' },
    { per_day_usd: 12.34, per_month_usd: 12.34, pacing: 'even' },
  ] as const) {
    assert.deepEqual(errorsOf(catalogOf([plainOffer({ budget })])), []);
  }
});

test('requires no confirm rate for a cost-per-click vertical or offer', () => {
  assert.deepEqual(errorsOf(equipmentLeaseCatalog('live'), equipmentLeases), []);
  const { confirm_rate: _, ...band } = plainBand();
  const perClick = plainOffer({ payout_model: 'cost_per_click', bands: { '700-749': band } });
  assert.deepEqual(errorsOf(catalogOf([perClick])), []);
});

describe('catalog properties that a vertical does not support', () => {
  const { creditScores: _, ...rest } = personalLoans;
  const { amount, creditBand, annualIncome, state } = personalLoans.roles as Required<Vertical['roles']>;
  const bare: Vertical = {
    ...rest,
    roles: { amount, creditBand, annualIncome, state },
  };
  for (const [path, value] of [
    [[...offer, 'min_credit_score'], 700],
    [[...offer, 'max_debt_to_income_percent'], 40],
    [[...offer, 'joint_applications'], 'required'],
    [['state_rules'], { CA: { min_age: 18 } }],
  ] as const) {
    test(`rejects ${path.at(-1)} in a catalog if the vertical does not support ${path.at(-1)}`, () => {
      assert.deepEqual(errorsOf(changed(path, value)), []);
      const errors = errorsOf(changed(path, value), bare);
      assert.equal(errors.length, 1);
      assert.match(errors[0]!, /: is not allowed, because the vertical has no /);
    });
  }
});

describe('reports one error with the path of the invalid property', () => {
  const lender = ['lenders', 0] as const;
  const places = { lender, offer, band: [...offer, 'bands', '700-749'] } as Record<
    string,
    readonly (string | number)[]
  >;
  const printed: Record<string, string> = { lender: 'lenders[0]', offer: at, band: `${at}.bands.700-749` };
  const backwards = { min: 9, max: 8 };
  for (const [member, value, error] of [
    ['format', 2, ': '],
    ['vertical', 'mortgage', ': must be "personal-loans"'],
    ['disclosure', '', ': '],
    ['disclosure', 'Half \udfe6', ': must not contain a lone surrogate'],
    ['max_apr_percent', 36.01, ': '],
    ['state_rules', { ZZ: {} }, '.ZZ: is not a value of state'],
    ['state_rules', { CA: { max_apr: 3 } }, '.CA.max_apr: is not a member of the format'],
    ['state_rules', { CA: { min_age: 0 } }, '.CA.min_age: '],
    ['lenders', [], ': '],
    ['lenders', {}, ': '],
    ['lenders', [null], '[0]: '],
    ['lender.logo', '../secret.svg', ': '],
    ['lender.logo', 'plain.png', ': '],
    ['lender.logo', 'plain.svg.bak', ': '],
    ['lender.logo', 'plain.svg\n', ': '],
    ['lender.logo', `${'a'.repeat(65)}.svg`, ': '],
    ['lender.name', 'Bell\u0007', ': must not contain control characters'],
    ['lender.name', 'Half \ud83c', ': must not contain a lone surrogate'],
    ['lender.name', 'x'.repeat(bounds.lenderNameCodePointsMax + 1), ': '],
    ['lender.name', '\u{1F3E6}'.repeat(bounds.lenderNameCodePointsMax + 1), ': '],
    ['lender.name', `n${'\u0301'.repeat(bounds.lenderNameCodePointsMax)}`, ': '],
    ['lender.state_rules', { ZZ: {} }, '.ZZ: is not a value of state'],
    ['lender.state_rules', { CA: { min_age: 19 } }, '.CA.min_age: is not a member of the format'],
    ['offer.id', 'Has Spaces', ': '],
    ['offer.id', 'x'.repeat(bounds.offerIdCharactersMax + 1), ': '],
    ['offer.payout_usd', bounds.payoutUsdMax + 1, ': '],
    ['offer.payout_model', 'cost_per_view', ': '],
    ['offer.stars', 5.1, ': '],
    ['offer.typo', 1, ': is not a member of the format'],
    ['offer.amount', backwards, ': min must not exceed max'],
    ['offer.amount', { min: 1_000, max: 1e9 }, '.max: '],
    ['offer.term_months', [36, 36], ': must not repeat a value'],
    ['offer.features', ['a', 'b', 'a'], ': must not repeat a value'],
    ['offer.state_rules', { 12: {} }, '.12: is not a value of state'],
    ['offer.state_rules', { CA: { min_amount: 0 } }, '.CA.min_amount: '],
    ['offer.min_credit_score', 700.5, ': '],
    ['offer.min_credit_score', 750, ': is above every score of the bands'],
    ['offer.joint_applications', 'maybe', ': '],
    ...[0, -1, 1.5, '5', null, 100_000_001].map((cap) => ['offer.daily_cap', cap, ': '] as const),
    ['offer.budget', { pacing: 'asap' }, ': must contain per_day_usd, per_month_usd or both'],
    [
      'offer.budget',
      { per_day_usd: 2, per_month_usd: 1, pacing: 'even' },
      ': per_day_usd must not exceed per_month_usd',
    ],
    ['offer.budget', { per_day_usd: 2 }, ': '],
    [
      'offer.budget',
      { per_day_usd: 2, pacing: 'even', per_hour_usd: 1 },
      '.per_hour_usd: is not a member of the format',
    ],
    ['offer.budget', null, ': '],
    ...[0, 0.009, -1, '5', null, bounds.budgetUsdMax + 1].map(
      (usd) => ['offer.budget', { per_day_usd: usd, pacing: 'asap' }, '.per_day_usd: '] as const,
    ),
    ['offer.budget', { per_month_usd: 5, pacing: 'slow' }, '.pacing: '],
    ['offer.bands', {}, ': must hold at least one band'],
    ['offer.bands', { '700-750': plainBand() }, '.700-750: is not a value of credit_score_range'],
    ['offer.bands', { 'no\nband': null }, '."no\\nband": is not a member of the format'],
    ['band.max_amount', 10, ': is below amount.min of the offer'],
    ['band.confirm_rate', undefined, ': is required if the payout model'],
    ['band.note_rate_percent', backwards, ': min must not exceed max'],
    ['band.terms', { 60: { origination_fee_percent: 1 } }, '.60: is not a term of the offer'],
    ['band.terms', { 36: {} }, '.36: must hold note_rate_percent'],
    ['band.terms', { 36: { note_rate_percent: backwards } }, '.36.note_rate_percent: min must not exceed max'],
    ['band.terms', { 36: { origination_fee_percent: 21 } }, '.36.origination_fee_percent: '],
  ] as const) {
    test(`reports one error for ${member} = ${JSON.stringify(value)}`, () => {
      const [first, ...rest] = member.split('.') as [string, ...string[]];
      const errors = errorsOf(changed([...(places[first] ?? [first]), ...rest], value));
      assert.equal(errors.length, 1, errors.join('\n'));
      assert.ok(errors[0]!.startsWith([printed[first] ?? first, ...rest].join('.') + error), errors[0]);
    });
  }

  test('reports a missing property with the path of its offer', () => {
    assert.match(errorsOf(changed([...offer, 'stars'], undefined)).join(), /^lenders\[0\].offers\[0\]: /);
  });
});

describe('invalid criteria of a catalog', () => {
  for (const [criterion, error] of [
    [{ field: 'shoe_size', min: 3 }, '.field: is not a pocket field'],
    [{ field: 'education_level', in: ['graduate'] }, '.field: names a field that must not influence offers'],
    [{ field: 'address_zip', min: 3 }, '.field: names a field that must not influence offers'],
    [{ field: 'state' }, ': must hold one of in, not_in'],
    [{ field: 'state', min: 3 }, '.min: is not allowed for state'],
    [{ field: 'state', in: ['CA', 'XX'] }, '.in[1]: is not a value of state'],
    [{ field: 'loan_term_months', in: ['36'] }, '.in[0]: is not a value of loan_term_months'],
    [{ field: 'co_borrower', in: [1] }, '.in[0]: is not a value of co_borrower'],
    [{ field: 'annual_income', in: [50_000] }, '.in: is not allowed for annual_income'],
    [{ field: 'annual_income', min: 2, max: 1 }, ': min must not exceed max'],
    [{ field: 'annual_income', min: 2 ** 53 }, '.min: must be <= 9007199254740991'],
    [{ field: 'annual_income', max: -(2 ** 53) }, '.max: must be >= -9007199254740991'],
    [{ field: 'birthdate', max: 19_900_101 }, '.max: is not allowed for birthdate'],
    [{ field: 'birthdate', max_age: 60 }, '.max_age: is not a member of the format'],
  ] as const) {
    test(`rejects the criterion ${JSON.stringify(criterion)}`, () => {
      const errors = errorsOf(catalogOf([plainOffer({ criteria: [criterion as never] })]));
      assert.equal(errors.length, 1, errors.join('\n'));
      assert.ok(errors[0]!.startsWith(`${at}.criteria[0]${error}`), errors[0]);
    });
  }

  test('rejects a criterion for a field of the kind "digits"', () => {
    const catalog = JSON.parse(equipmentLeaseCatalog('live')) as LoanCatalog;
    catalog.lenders[0]!.offers[0]!.criteria = [{ field: 'site_code', min: 1 }];
    assert.deepEqual(errorsOf(catalog, equipmentLeases), [
      `${at}.criteria[0].field: names a field that cannot be a criterion`,
    ]);
  });
});

test('rejects an invalid landing URL', () => {
  for (const url of [
    'http://plain.example/?c={click_id}',
    'https://plain.example/',
    'https://{click_id}.example/',
    'https://plain.example{click_id}/',
    'https://user@plain.example/{click_id}',
    'https://plain.example/{click_id}/{other}',
    'https://plain.example/\r\nSet-Cookie: a={click_id}',
    'https://plain.example/ü?{click_id}',
    'javascript:alert("{click_id}")',
    '//plain.example/{click_id}',
    '/apply?click_id={click_id}',
    '/c/example?click_id={click_id}&next=//plain.example',
  ]) {
    const errors = errorsOf(catalogOf([plainOffer({ landing_url: url })]));
    assert.equal(errors.length, 1, url);
    assert.ok(errors[0]!.startsWith(`${at}.landing_url: `));
  }
});

test('rejects repeated offer ids and lender names', () => {
  const lender = catalogOf([plainOffer()]).lenders[0]!;
  assert.deepEqual(errorsOf(catalogOf([], { lenders: [lender, lender] })), [
    'lenders[1].name: is the same as lenders[0].name',
    'lenders[1].offers[0].id: is the same as lenders[0].offers[0].id',
  ]);
});

test('skips the semantic validation of an offer with schema errors', () => {
  const errors = errorsOf(catalogOf(Array.from({ length: 2_500 }, () => ({}) as LoanOffer)));
  assert.equal(errors.length, bounds.catalogErrorsReportedMax + 1);
  assert.ok(errors[0]!.startsWith(`${at}: must have required properties`));
  assert.match(errors.at(-1)!, /^and at least \d+ more$/);
});

test('reports a semantic error of an offer even if many other offers have schema errors', () => {
  const misshapen = Array.from({ length: bounds.catalogErrorsReportedMax - 1 }, () => ({ ...plainOffer(), stars: 9 }));
  const errors = errorsOf(catalogOf([...misshapen, plainOffer({ amount: { min: 3, max: 2 } })]));
  assert.equal(errors.at(-1), `lenders[0].offers[${misshapen.length}].amount: min must not exceed max`);
});

test('does not change the global settings of the schema library', () => {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: 3 });
  try {
    errorsOf({});
    assert.equal(Settings.Get().maxErrors, 3);
  } finally {
    Settings.Set({ maxErrors });
  }
});

test('rejects a text that is not a catalog', () => {
  const proto = '{"__proto__":{"format":1}}';
  for (const text of ['', '{', 'null', '[]', '3', '"x"', proto, '{"lenders":[{"offers":[null]}]}']) {
    assert.notEqual(errorsOf(text).length, 0, text);
  }
});

test('the longest lender names and the largest payouts fit into ledger records', () => {
  const name = '\u{1F3E6}'.repeat(bounds.lenderNameCodePointsMax);
  const id = 'x'.repeat(bounds.offerIdCharactersMax);
  const bands = { '700-749': plainBand({ confirm_rate: 1 }) };
  const largest = catalogOf([plainOffer({ id, payout_usd: bounds.payoutUsdMax, bands })]);
  largest.lenders[0]!.name = name;
  assert.deepEqual(errorsOf(largest), []);
  const compiled = compileCatalog(largest, builtInVerticals.withProduct(personalLoans), { mode: 'live' });
  const now = 1_785_542_400_000;
  const { lenderName } = compiled.offers[0]!;
  const value = compiled.clickValueMicros(0, 4);
  const sub = new Uint8Array(subIdByteLength);
  for (const record of [
    [ledgerRecordKind.offersViewed, now, sub, compiled.version, [id]],
    [ledgerRecordKind.offerClicked, now, sub, compiled.version, id, lenderName, value],
  ]) {
    assert.notEqual(parseLedgerRecord(record), null);
  }
});

test('rejects a catalog with too many different loan terms', () => {
  const offers = [0, 20].map((from) =>
    plainOffer({ id: `o${from}`, term_months: Array.from({ length: 20 }, (_, i) => from + i + 1) }),
  );
  assert.deepEqual(errorsOf(catalogOf(offers)), [
    `lenders: must name at most ${bounds.catalogTermsMax} different terms`,
  ]);
});

describe('quotes of catalog text in errors are short and contain no control characters', () => {
  const hostile = '\u001b]0;owned\u0007\r\n\u009b2J\u202eabc\u{e0041}\ud83c';
  const nothingHidden = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u;
  const shownMost = bounds.catalogNameCharactersShown;
  test('no error for an invalid catalog contains a control character from the catalog', () => {
    for (const text of [
      JSON.stringify({ [hostile]: 1 }),
      JSON.stringify(changed(['state_rules'], { [hostile]: {} })),
      JSON.stringify(changed([...offer, 'bands', hostile], plainBand())),
      hostile,
      `{"format": 1, "vertical": ${hostile}, "lenders": [${'0,'.repeat(100)}0]}`,
    ]) {
      const errors = errorsOf(text);
      for (const error of errors) assert.match(error, nothingHidden);
      assert.ok(errors.some((error) => error.includes('\\u001b')));
    }
  });

  test('truncates a name of one megabyte in an error', () => {
    const [error] = errorsOf(changed(['x'.repeat(1e6)], 1));
    assert.equal(error, `${'x'.repeat(shownMost)}...: is not a member of the format`);
    const [hidden] = errorsOf(changed(['\u0000'.repeat(1e6)], 1));
    assert.equal(hidden, `"${'\\u0000'.repeat(shownMost)}...": is not a member of the format`);
  });
});

describe('rejects a file above a size limit with a single error', () => {
  const { catalogValuesMax, catalogDepthMax, catalogObjectMembersMax, catalogListItemsMax, catalogOffersMax } = bounds;
  const list = (length: number, item = '0') => `[${Array(length).fill(item).join()}]`;
  const offersOf = (length: number) => `{"offers":${list(length)}}`;
  const members = Array.from({ length: catalogObjectMembersMax + 1 }, (_, at) => `"a${at}":0`);
  const tooLong = JSON.parse(list(catalogListItemsMax + 1));
  const atMost = (path: string, max: number, what: string) => `${path}: must contain at most ${max} ${what}`;
  for (const [name, text, error] of [
    ['values', `{"lenders":${list(catalogValuesMax)}}`, atMost('catalog', catalogValuesMax, 'values')],
    ['lenders', `{"lenders":${list(catalogOffersMax + 1)}}`, atMost('lenders', catalogOffersMax, 'lenders')],
    [
      'offers of one lender',
      `{"lenders":[${offersOf(catalogOffersMax + 1)}]}`,
      atMost('lenders', catalogOffersMax, 'offers'),
    ],
    [
      'offers of many lenders',
      `{"lenders":${list(catalogOffersMax / 200, offersOf(201))}}`,
      atMost('lenders', catalogOffersMax, 'offers'),
    ],
    ['criteria', changed([...offer, 'criteria'], tooLong), atMost(`${at}.criteria`, catalogListItemsMax, 'values')],
    [
      'list items where a list is not allowed',
      changed(['lenders'], { offers: tooLong }),
      atMost('lenders.offers', catalogListItemsMax, 'values'),
    ],
    [
      'members',
      `{\n${members.join(',\n')}}`,
      `${atMost('catalog', catalogObjectMembersMax, 'members in one object')}, which line ${catalogObjectMembersMax + 1} exceeds`,
    ],
    ['nesting levels', '['.repeat(catalogDepthMax + 1), `catalog: must be nested at most ${catalogDepthMax} deep`],
  ] as const) {
    test(`rejects a catalog with too many ${name}`, () => assert.deepEqual(errorsOf(text), [error]));
  }

  test('applies the full validation to a file that is exactly at the size limits', () => {
    assert.deepEqual(errorsOf(`${'['.repeat(catalogDepthMax)}${']'.repeat(catalogDepthMax)}`), [
      'catalog: must be object',
    ]);
    const names = Array.from({ length: catalogObjectMembersMax }, (_, at) => `S${at}`);
    const states = Object.fromEntries(names.map((name) => [name, { min_age: 19 }]));
    const errors = errorsOf(changed(['state_rules'], states));
    assert.equal(errors.length, catalogObjectMembersMax);
    for (const error of errors) assert.match(error, /^state_rules\.S\d+: is not a value of state$/);
  });

  test('the size limits of a catalog count brackets and commas, but not those inside strings', () => {
    const disclosure = '[{,"\\\\",}]'.repeat(40);
    assert.deepEqual(errorsOf({ ...catalogOf([plainOffer()]), disclosure }), []);
  });
});

test('reports errors with the path of the property in the catalog file', () => {
  const file = catalogOf([plainOffer(), { ...plainOffer({ id: 'b' }), stars: 'x', 'odd/~name': 1 } as never]);
  const [sound] = file.lenders;
  const errors = errorsOf({ ...file, odd: 1, lenders: [sound, { ...sound, name: '', odd: 1 }] });
  const paths = errors.map((error) => error.slice(0, error.indexOf(': ')));
  const offerPaths = (lender: number) => ['"odd/~name"', 'stars'].map((name) => `lenders[${lender}].offers[1].${name}`);
  assert.deepEqual(
    paths.sort(),
    ['lenders[1].name', 'lenders[1].odd', 'lenders[1].offers[0].id', 'odd', ...offerPaths(0), ...offerPaths(1)].sort(),
  );
});

test('rejects a text without parsing it if the text is too long or has a byte order mark', () => {
  assert.deepEqual(errorsOf('\ufeff{}'), ['catalog: must not begin with a byte order mark']);
  assert.deepEqual(errorsOf(' '.repeat(bounds.catalogFileBytesMax + 1)), [
    `catalog: must be at most ${bounds.catalogFileBytesMax} bytes long`,
  ]);
});

function readBytes(t: TestContext, bytes: Uint8Array): ReturnType<typeof readCatalogText> {
  const folder = temporaryFolder(t);
  const file = join(folder, 'offers.json');
  writeFileSync(file, bytes);
  return readCatalogText(file);
}

const text = '{\n  "name": "Crédit \u{1f3e6}",\n  "more": "é"\n}';

test('reading a catalog file keeps the byte order mark, so that the validation can reject the file', (t) => {
  for (const written of ['', text, `\ufeff${text}`]) {
    assert.deepEqual(readBytes(t, Buffer.from(written)), { ok: true, text: written });
  }
});

describe('catalog files that are not UTF-8', () => {
  for (const [name, bytes, line] of [
    ['Latin-1', Buffer.from('{\n  "name": "Cr\u00e9dit"\n}', 'latin1'), 2],
    ['an invalid byte on the last line', Buffer.from([...Buffer.from(`${text}\n`), 0xff]), 5],
    [
      'a character that is incomplete at the end of the file',
      Buffer.from(text).subarray(0, Buffer.from(text).indexOf('é', 24) + 1),
      3,
    ],
    ['half a surrogate pair in three bytes', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 1],
    ['UTF-16 with a byte order mark', Buffer.from(`\ufeff${text}`, 'utf16le'), 1],
  ] as const) {
    test(`reports the first line of a catalog that is not UTF-8: ${name}`, (t) => {
      assert.deepEqual(readBytes(t, bytes), { ok: false, problem: `must be UTF-8, but line ${line} is not` });
    });
  }
});
