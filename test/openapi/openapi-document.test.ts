import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { recordExamples } from '../../bin/record-examples.ts';
import { resolveUrls } from '../../src/config/resolve-urls.ts';
import { openApiDocument, openApiText } from '../../src/openapi/openapi-document.ts';
import { recordedExamplesUrl } from '../../src/openapi/recorded-examples.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

const unset = { public: null, click: null, widget: null, cdn: null };
const { urls } = resolveUrls({ publicEndpoint: { host: '127.0.0.1', port: 8080 }, tls: null, urls: unset }, 8080);
const apart = {
  public: 'https://api.test/loans',
  click: 'https://go.test',
  widget: 'https://widgets.test',
  cdn: 'https://images.test/logos',
};

for (const { vertical } of allFixtures) {
  for (const [where, addresses] of Object.entries({ 'one host': urls, 'hosts of their own': apart })) {
    test(`the document of ${vertical.segment} on ${where} conforms to the recommended rules of a linter`, async () => {
      const problems = await lintFromString({
        source: openApiText(vertical, addresses),
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

test('the document in docs/ is the current OpenAPI document (written by make openapi)', () => {
  const filed = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
  assert.equal(filed, openApiText(personalLoans, urls));
});

test('the examples are the responses of the current service (recorded by make openapi)', async () => {
  const filed: unknown = JSON.parse(readFileSync(recordedExamplesUrl(personalLoans.segment), 'utf8'));
  assert.deepEqual(filed, await recordExamples());
});

test('the URLs are those of the service, including the URLs in examples', () => {
  const { servers, paths } = openApiDocument(personalLoans, apart);
  assert.equal(servers[0]?.url, 'https://api.test/loans/v1/personal-loans');
  assert.deepEqual(paths['/c']?.servers?.[0]?.url, 'https://go.test');
  assert.deepEqual(paths['/']?.servers?.[0]?.url, 'https://widgets.test');
  assert.deepEqual(paths['/widget.js']?.servers?.[0]?.url, 'https://widgets.test');
  const text = openApiText(personalLoans, apart);
  assert.match(text, /"click_url": "https:\/\/go\.test\/c\?sub=/);
  assert.match(text, /"logo_url": "https:\/\/images\.test\/logos\//);
  assert.doesNotMatch(text, /\.invalid/);
});

test('the pocket fields are those of the vertical, with their allowed values', () => {
  for (const { vertical, fields, required } of allFixtures) {
    const { PocketFields } = openApiDocument(vertical, urls).components.schemas as Record<
      string,
      { readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>> }
    >;
    assert.deepEqual(Object.keys(PocketFields!.properties).sort(), fields.map(({ name }) => name).sort());
    for (const [name, { description }] of Object.entries(PocketFields!.properties)) {
      assert.equal(/Required for offers/.test(String(description)), required.includes(name), name);
    }
  }
});
