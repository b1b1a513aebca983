import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import Type from 'typebox';
import { successOutcome } from '../../src/domain/outcome.ts';
import { admitByKey, apiRoutes } from '../../src/http/routes/api-routes.ts';
import { CorsPolicy } from '../../src/http/routes/cors.ts';
import { openApiDocument } from '../../src/openapi/openapi-document.ts';
import { defineOperation } from '../../src/operations/api-operation.ts';
import { apiOperations } from '../../src/operations/api-operations.ts';
import { flagSchema } from '../../src/operations/request-members.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { issueKey, openAuth } from '../auth/support.ts';
import { HttpClient, type HttpRequest } from '../support/http-client.ts';
import { engines, listenerOptions } from './listener-bench.ts';

/** Components of the two operations that this test adds. */
interface NotesDeps {
  readonly notes: Map<string, { readonly text: string; readonly stars: number | undefined }>;
}

const nameParameter = {
  description: 'Name of the note.',
  schema: Type.String({ pattern: '^[a-z ]{1,20}$' }),
  rule: () => 'must be 1 to 20 lower-case letters or spaces',
};

const putNote = defineOperation({
  id: 'putNote',
  method: 'PUT',
  path: '/notes/{name}',
  limit: 'requests',
  summary: 'Store a note',
  description: 'Replaces the note of this name.',
  parameters: { name: nameParameter },
  body: {
    title: 'NoteRequest',
    members: {
      text: { schema: Type.String({ pattern: '^.{1,9}$' }), rule: () => 'must be a string of 1 to 9 characters' },
      stars: { schema: Type.Optional(Type.Integer({ minimum: 0, maximum: 5 })) },
    },
  },
  response: { description: 'The note.', schema: Type.Object({ name: Type.String() }, { title: 'Note' }) },
  errors: [],
  invalidParamExample: 'body',
  handle({ notes }: NotesDeps, { name, text, stars }) {
    notes.set(name, { text, stars });
    return successOutcome({ name });
  },
});

const deleteNote = defineOperation({
  id: 'deleteNote',
  method: 'DELETE',
  path: '/notes/{name}',
  limit: 'analytics',
  summary: 'Delete a note',
  description: 'Deletes the note of this name.',
  parameters: {
    name: nameParameter,
    dry_run: { description: 'Whether to keep the note.', schema: flagSchema },
  },
  response: {
    description: 'Whether there was a note.',
    schema: Type.Object({ deleted: Type.Boolean() }, { title: 'Deletion' }),
  },
  errors: [],
  invalidParamExample: 'body',
  async handle({ notes }: NotesDeps, { name, dry_run: isDryRun }) {
    return successOutcome({ deleted: isDryRun ? notes.has(name) : notes.delete(name) });
  },
});

const operations = [putNote, deleteNote];
const page = 'https://landing.example';
const path = '/v1/personal-loans/notes';

/** Serves the two operations. `send` sends a request with a key of this mode. */
async function serve(t: TestContext, engine: keyof typeof engines) {
  const { authenticator, folder } = openAuth(t);
  const keys = { test: issueKey(folder, { mode: 'test' }).key, live: issueKey(folder, { mode: 'live' }).key };
  const deps: NotesDeps = { notes: new Map() };
  const handler = apiRoutes({
    basePath: '/v1',
    verticals: [personalLoans],
    admitRequest: admitByKey(authenticator),
    actorKind: 'partner_key',
    operations,
    operationDeps: deps,
    cors: new CorsPolicy([page]),
    otherHandlers: new Map(),
  });
  const listener = await engines[engine](listenerOptions(handler));
  t.after(() => listener.close(0));
  const http = new HttpClient(listener.port, false);
  t.after(() => http.close());
  const send = async (request: HttpRequest, mode: 'test' | 'live' = 'test') => {
    const headers = { Authorization: `Bearer ${keys[mode]}`, ...request.headers };
    const response = await http.send({ ...request, headers });
    return { ...response, body: response.text === '' ? null : JSON.parse(response.text) };
  };
  const put = (name: string, body: unknown, mode?: 'test' | 'live') => {
    const text = JSON.stringify(body);
    const headers = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) };
    return send({ method: 'PUT', path: `${path}/${name}`, headers, body: text }, mode);
  };
  const remove = (nameAndQuery: string, mode?: 'test' | 'live') =>
    send({ method: 'DELETE', path: `${path}/${nameAndQuery}` }, mode);
  return { ...deps, send, put, remove };
}

for (const engine of ['uws', 'node'] as const) {
  test(`${engine}: passes path parameters, query parameters and the body to added operations`, async (t) => {
    const { notes, put, remove } = await serve(t, engine);
    const stored = await put('hero%20form', { text: 'short', stars: 3 });
    assert.deepEqual([stored.status, stored.body], [200, { name: 'hero form' }]);
    assert.deepEqual(Object.fromEntries(notes), { 'hero form': { text: 'short', stars: 3 } });
    assert.deepEqual((await remove('hero%20form?dry_run=true')).body, { deleted: true });
    assert.deepEqual((await remove('hero%20form?dry_run=false')).body, { deleted: true });
    assert.deepEqual((await remove('hero%20form')).body, { deleted: false });
    assert.equal((await remove('hero')).headers.get('x-ratelimit-limit'), '50');
    assert.equal((await put('hero', { text: 'a' })).headers.get('x-ratelimit-limit'), '500');
  });

  test(`${engine}: names the first invalid part of a request to an added operation`, async (t) => {
    const { notes, put, remove, send } = await serve(t, engine);
    const long = `name must be 1 to 20 lower-case letters or spaces.`;
    for (const [response, message] of [
      [await put('Hero', { text: 5 }), long],
      [await remove('hero%21'), long],
      [await remove('hero%FF'), 'name must be valid percent-encoded UTF-8.'],
      [await put('hero', {}), 'text must be a string of 1 to 9 characters.'],
      [await put('hero', { text: 'a', stars: 6 }), /^The request is invalid\. param is/],
      [await put('hero', ['a']), /^The request body must be/],
    ] as const) {
      const { error, message: actual } = response.body;
      assert.deepEqual([response.status, error], [400, 'INVALID_REQUEST']);
      if (typeof message === 'string') assert.equal(actual, message);
      else assert.match(actual, message);
    }
    assert.equal((await remove('hero?dry_run=1')).body.param, 'dry_run');
    const text = await send({ method: 'PUT', path: `${path}/hero`, headers: { 'Content-Length': '2' }, body: '{}' });
    assert.equal(text.status, 415);
    assert.equal(notes.size, 0);
  });

  test(`${engine}: lists the ignored names of requests to added operations for test keys`, async (t) => {
    const { put, remove } = await serve(t, engine);
    assert.deepEqual((await put('hero', { text: 'a', txt: 'b' })).body.ignored, ['txt']);
    assert.deepEqual((await remove('hero?dryrun=true')).body.ignored, ['dryrun']);
    assert.equal((await put('hero', { text: 'a', txt: 'b' }, 'live')).body.ignored, undefined);
    assert.deepEqual((await remove('hero?dryrun=true&sort=name', 'live')).body.ignored, ['sort']);
  });

  test(`${engine}: allows exactly the methods of added operations, also for pages of a configured origin`, async (t) => {
    const { send } = await serve(t, engine);
    const methods = 'PUT, DELETE, OPTIONS';
    for (const method of ['GET', 'HEAD', 'POST', 'PATCH']) {
      const { status, headers } = await send({ method, path: `${path}/hero` });
      assert.deepEqual([status, headers.get('allow')], [405, methods]);
    }
    const preflight = await send({ method: 'OPTIONS', path: `${path}/hero`, headers: { Origin: page } });
    assert.deepEqual([preflight.status, preflight.headers.get('allow')], [204, methods]);
    assert.equal(preflight.headers.get('access-control-allow-methods'), methods);
    assert.equal(preflight.headers.get('access-control-allow-origin'), page);
    for (const unknown of [path, `${path}/`, `${path}/hero/more`, `/v1/mortgage/notes/hero`]) {
      assert.equal((await send({ method: 'PUT', path: unknown })).status, 404, unknown);
    }
  });
}

test('the OpenAPI document describes added operations', async () => {
  const urls = {
    public: 'https://api.test',
    click: 'https://go.test',
    widget: 'https://w.test',
    cdn: 'https://cdn.test',
  };
  const document = openApiDocument(builtInVerticals.withProduct(personalLoans), urls, [
    ...apiOperations,
    ...operations,
  ]);
  const { put, delete: remove, ...others } = document.paths['/notes/{name}']!;
  assert.deepEqual(others, {});
  const { schema, description } = nameParameter;
  const name = { name: 'name', in: 'path', required: true, description, schema };
  assert.deepEqual(put?.parameters, [name]);
  assert.deepEqual(
    remove?.parameters?.map((parameter) => [parameter.name, parameter.in, parameter.required]),
    [
      ['name', 'path', true],
      ['dry_run', 'query', undefined],
    ],
  );
  assert.deepEqual(document.components.schemas.NoteRequest, {
    title: 'NoteRequest',
    type: 'object',
    required: ['text'],
    properties: {
      text: { type: 'string', pattern: '^.{1,9}$' },
      stars: { type: 'integer', minimum: 0, maximum: 5 },
    },
  });
  const statuses = (operation: typeof put) => Object.keys(operation!.responses);
  assert.deepEqual(statuses(put), ['200', '400', '401', '403', '405', '413', '415', '429', '500', '503']);
  assert.deepEqual(statuses(remove), ['200', '400', '401', '403', '405', '429', '500', '503']);
  const problems = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: 'openapi.json',
    config: await createConfig({ extends: ['recommended'] }),
  });
  assert.deepEqual(
    problems.map(({ message }) => message),
    [],
  );
});
