import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import Type from 'typebox';
import { captureExamples } from '../../bin/record-examples.ts';
import { resolveUrls } from '../../src/config/resolve-urls.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { prepareDocsFiles } from '../../src/openapi/docs-files.ts';
import { extractComponents, openApiDocument, openApiText } from '../../src/openapi/openapi-document.ts';
import { recordedExamplesUrl } from '../../src/openapi/recorded-examples.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

const unset = { public: null, click: null, widget: null, cdn: null };
const { urls } = resolveUrls({ listen: null, urls: unset }, 8080);
const apart = {
  public: 'https://api.test/loans',
  click: 'https://go.test',
  widget: 'https://widgets.test',
  cdn: 'https://images.test/logos',
};

for (const vertical of [...builtInVerticals.verticals, equipmentLeases]) {
  for (const [where, addresses] of Object.entries({ 'one host': urls, 'hosts of their own': apart })) {
    test(`the OpenAPI document of ${vertical.segment} on ${where} passes the recommended lint rules`, async () => {
      const problems = await lintFromString({
        source: openApiText(builtInVerticals.withProduct(vertical), addresses),
        absoluteRef: 'openapi.json',
        config: await createConfig({ extends: ['recommended'] }),
      });
      assert.deepEqual(
        problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`),
        [],
      );
    });
  }
}

test('docs/openapi.json equals the current OpenAPI document (update with make openapi)', () => {
  const filed = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
  assert.equal(filed, openApiText(builtInVerticals.withProduct(personalLoans), urls));
});

for (const vertical of builtInVerticals.verticals) {
  const { segment } = vertical;
  test(`the recorded examples of ${segment} equal the responses of the current service (update with make openapi)`, async () => {
    const filed: unknown = JSON.parse(readFileSync(recordedExamplesUrl(segment), 'utf8'));
    assert.deepEqual(filed, await captureExamples(vertical));
  });
}

test('the document and its examples contain the configured URLs of the service', () => {
  const { servers, paths } = openApiDocument(builtInVerticals.withProduct(personalLoans), apart);
  assert.equal(servers[0]?.url, 'https://api.test/loans/v1/personal-loans');
  assert.deepEqual(paths['/c']?.servers?.[0]?.url, 'https://go.test');
  assert.deepEqual(paths['/']?.servers?.[0]?.url, 'https://widgets.test');
  assert.deepEqual(paths['/widget.js']?.servers?.[0]?.url, 'https://widgets.test');
  const text = openApiText(builtInVerticals.withProduct(personalLoans), apart);
  assert.match(text, /"click_url": "https:\/\/go\.test\/c\?sub=/);
  assert.match(text, /"logo_url": "https:\/\/images\.test\/logos\//);
  assert.doesNotMatch(text, /\.invalid/);
});

test('the document contains the fields of the vertical with their allowed values', () => {
  for (const { vertical, fields, required } of allFixtures) {
    const { PocketFields } = openApiDocument(builtInVerticals.withProduct(vertical), urls).components.schemas as Record<
      string,
      { readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>> }
    >;
    assert.deepEqual(Object.keys(PocketFields!.properties).sort(), fields.map(({ name }) => name).sort());
    for (const [name, { description }] of Object.entries(PocketFields!.properties)) {
      assert.equal(/Required for offers/.test(String(description)), required.includes(name), name);
    }
  }
});

// `make openapi-clients-test` compiles the clients of six code generators, which lose other forms.
test('the schemas use only forms that code generators support', () => {
  const lost: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { type, enum: values, patternProperties } = value as Readonly<Record<string, unknown>>;
    const types = [type].flat();
    if (patternProperties !== undefined) lost.push(`${path}: patternProperties`);
    if (types.includes('null') && types.includes('object')) lost.push(`${path}: object or null in one list of types`);
    if (Array.isArray(values) && values.includes(null)) lost.push(`${path}: null in an enumeration`);
    if (Array.isArray(values) && types[0] === undefined) lost.push(`${path}: an enumeration without a type`);
    for (const [name, member] of Object.entries(value)) visit(member, `${path}/${name}`);
  };
  for (const vertical of [...builtInVerticals.verticals, equipmentLeases]) {
    visit(openApiDocument(builtInVerticals.withProduct(vertical), urls).components.schemas, vertical.segment);
  }
  assert.deepEqual(lost, []);
});

test('the document of each vertical states what its sort orders mean, and which members of an offer it does not use', () => {
  const describe = (segment: string) => {
    const vertical = builtInVerticals.verticals.find((candidate) => candidate.segment === segment)!;
    const { paths, components } = openApiDocument(builtInVerticals.withProduct(vertical), urls);
    const { sort } = Object.fromEntries(
      paths['/marketplace']!.get!.parameters!.map((parameter) => [parameter.name, parameter.description]),
    );
    const { properties } = components.schemas.Offer as {
      properties: Record<string, { readonly description: string }>;
    };
    return { sort: sort!, terms: properties.term_months!.description };
  };
  assert.match(
    describe('personal-loans').sort,
    /`lowest_apr`: `apr_range`, ascending; .*`svc_revenue`: highest expected revenue/,
  );
  assert.match(describe('credit-cards').sort, /`highest_amount`: `card\.first_year_value`, descending/);
  assert.match(describe('banking').sort, /`lowest_apr`: `deposit\.apy`, descending/);
  assert.match(
    describe('find-advisor').sort,
    /`lowest_apr`: `advisor\.estimated_annual_fee`, ascending, .*`highest_amount`: `advisor\.minimum_assets`, descending/,
  );
  assert.match(
    describe('mortgage').sort,
    /first\. As an exception of this vertical, `svc_revenue` gets 400 `INVALID_REQUEST`\.$/,
  );
  const usesTerms = ['personal-loans', 'mortgage', 'credit-cards', 'banking', 'find-advisor'].map(
    (segment) => !describe(segment).terms.startsWith('Always empty'),
  );
  assert.deepEqual(usesTerms, [true, true, false, false, false]);
});

test('extractComponents extracts a schema with a title once, even if the schema is used several times', () => {
  const item = Type.Object({ n: Type.Integer() }, { title: 'Item' });
  const list = Type.Object({ items: Type.Array(item), first: Type.Optional(item) }, { title: 'List' });
  assert.deepEqual(extractComponents({ '/lists': list, '/items': item }), {
    described: { '/lists': { $ref: '#/components/schemas/List' }, '/items': { $ref: '#/components/schemas/Item' } },
    schemas: {
      List: {
        title: 'List',
        type: 'object',
        required: ['items'],
        properties: {
          items: { type: 'array', items: { $ref: '#/components/schemas/Item' } },
          first: { $ref: '#/components/schemas/Item' },
        },
      },
      Item: { title: 'Item', type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
    },
  });
});

test('two different schemas with the same title cause an error', () => {
  const one = Type.Object({ n: Type.Integer() }, { title: 'Item' });
  const other = Type.Object({ n: Type.String() }, { title: 'Item' });
  assert.throws(() => extractComponents({ one, other }), /two schemas have the title Item/);
});

test('extractComponents does not treat an example with a title property as a schema', () => {
  const examples = { one: { value: { title: 'A title' } } };
  assert.deepEqual(extractComponents({ examples }).described, { examples });
});

async function pageAt(path: string, publicUrl: string, verticals: readonly Vertical[]): Promise<string> {
  const urls = { public: publicUrl, click: publicUrl, widget: `${publicUrl}/w`, cdn: `${publicUrl}/cdn` };
  const page = (
    await prepareDocsFiles(
      verticals.map((vertical) => builtInVerticals.withProduct(vertical)),
      urls,
    )
  ).find((file) => file.path === path);
  assert.equal(page?.kind, 'page');
  return Buffer.from(page.file.plain).toString();
}

test('URLs of the reference page include the path of the public URL; with several verticals, the page has a navigation menu', async () => {
  const page = await pageAt('/docs', 'https://api.test/loans', [personalLoans, equipmentLeases]);
  const addresses = [...page.matchAll(/(?:src|href|data-document)="(?!data:)([^"]+)"/g)].map((match) => match[1]!);
  assert.equal(addresses.length, 8);
  for (const address of addresses) assert.match(address, /^\/loans\/(docs|v1)\//);
  assert.match(page, /<nav/);
  assert.doesNotMatch(await pageAt('/docs', 'https://api.test', [personalLoans]), /<nav/);
});
