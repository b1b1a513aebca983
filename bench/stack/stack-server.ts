/**
 * Comparison server: what a team would build first with Fastify, Redis and PostgreSQL. It keeps the promises of the four measured routes in
 * the plainest way: API keys and their limits, sessions with a lifetime, validated fields, signed click links, and a durable row before the
 * answer of `POST /session`, `POST /inputs` and a click. It has no analytics, no budgets and no ranking: all borrowers get the same offers.
 *
 * Redis has the limits of keys and the live sessions. PostgreSQL has the rows, with `synchronous_commit=on`; rows of views are written with
 * `synchronous_commit=off`, because the service also answers before a view is on disk.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { announcePort } from '../baselines/baseline-response.ts';
import type { StackServerSettings } from './start-stack.ts';

const { redisSocket, databaseSocket, keys, offers, envelope, basePath, headers } = JSON.parse(
  readFileSync(process.argv[2]!, 'utf8'),
) as StackServerSettings;

/** Limits and lifetimes as in the service. */
const requestsPerMinute = 500;
const sessionsPerDay = 10_000;
const sessionSeconds = 4 * 3_600;
/** Connections to PostgreSQL for rows that must be durable, and for rows of views. */
const durableConnections = 16;
const viewConnections = 4;
/** Rows of views that wait for PostgreSQL. When there are more, a view is not recorded before the answer, so the request waits. */
const pendingViewsMax = 1_000;

const secret = randomBytes(32);
const keyNumbers = new Map(keys.map((key, at) => [hashKey(key), at]));
// Auto-pipelining sends the commands of one event-loop turn together, as the documentation of ioredis recommends.
const redis = new Redis({ path: redisSocket, enableAutoPipelining: true });
const connection = { host: databaseSocket, user: 'bench', database: 'bench' };
const durableRows = new Pool({ ...connection, max: durableConnections, options: '-c synchronous_commit=on' });
const viewRows = new Pool({ ...connection, max: viewConnections, options: '-c synchronous_commit=off' });
const fragments = new Map(offers.map(({ id, head, tail, lenderUrl }) => [id, { head, tail, lenderUrl }]));

await durableRows.query(`
  CREATE TABLE sessions (sub_id text PRIMARY KEY, key_number int NOT NULL, referrer_tag text NOT NULL, created timestamptz NOT NULL DEFAULT now());
  CREATE INDEX ON sessions (referrer_tag, created);
  CREATE TABLE inputs (id bigserial PRIMARY KEY, sub_id text NOT NULL, fields jsonb NOT NULL, submitted timestamptz NOT NULL DEFAULT now());
  CREATE TABLE views (id bigserial PRIMARY KEY, sub_id text NOT NULL, offers text[] NOT NULL, viewed timestamptz NOT NULL DEFAULT now());
  CREATE TABLE clicks (sub_id text NOT NULL, offer text NOT NULL, clicked timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (sub_id, offer));
`);

function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('base64');
}

function sign(text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url').slice(0, 22);
}

function isSigned(text: string, signature: string): boolean {
  const expected = sign(text);
  return signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
}

class Rejection extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** Checks the API key and counts the request toward its limit. Returns the number of the key. */
async function admit(request: FastifyRequest, reply: FastifyReply): Promise<number> {
  const { authorization } = request.headers;
  const number = authorization?.startsWith('Bearer ') ? keyNumbers.get(hashKey(authorization.slice(7))) : undefined;
  if (number === undefined) throw new Rejection(401, 'unknown API key');
  const counter = `limit:${number}:${Math.floor(Date.now() / 60_000)}`;
  const used = await redis.incr(counter);
  if (used === 1) await redis.expire(counter, 60);
  reply.header('X-RateLimit-Remaining', Math.max(0, requestsPerMinute - used));
  if (used > requestsPerMinute) throw new Rejection(429, 'too many requests');
  return number;
}

async function findSession(subId: string): Promise<Record<string, string>> {
  const session = await redis.hgetall(`session:${subId}`);
  if (session.key === undefined) throw new Rejection(404, 'unknown or expired session');
  return session;
}

const app = fastify();
app.addHook('onRequest', async (_, reply) => {
  reply.headers(headers);
});

const text = { type: 'string', minLength: 1, maxLength: 128 } as const;

app.post<{ Body: { referrer_tag: string } }>(
  `${basePath}/session`,
  {
    schema: {
      body: { type: 'object', required: ['referrer_tag'], properties: { referrer_tag: text } },
      response: {
        200: {
          type: 'object',
          properties: { sub_id: text, expires_at: text, referrer_tag: text, status: text },
        },
      },
    },
  },
  async (request, reply) => {
    const number = await admit(request, reply);
    const day = `sessions:${number}:${new Date().toISOString().slice(0, 10)}`;
    const created = await redis.incr(day);
    if (created === 1) await redis.expire(day, 86_400);
    if (created > sessionsPerDay) throw new Rejection(429, 'too many sessions today');
    const { referrer_tag: tag } = request.body;
    const id = randomBytes(16).toString('hex');
    const subId = `${id}${sign(id)}`;
    await durableRows.query({
      name: 'session',
      text: 'INSERT INTO sessions (sub_id, key_number, referrer_tag) VALUES ($1, $2, $3)',
      values: [subId, number, tag],
    });
    await Promise.all([
      redis.hset(`session:${subId}`, { key: number, tag }),
      redis.expire(`session:${subId}`, sessionSeconds),
    ]);
    const expires = new Date(Date.now() + 1_000 * sessionSeconds).toISOString();
    return { sub_id: subId, expires_at: expires, referrer_tag: tag, status: 'created' };
  },
);

app.post<{ Body: { sub_id: string; fields: Record<string, string | number | boolean> } }>(
  `${basePath}/inputs`,
  {
    schema: {
      body: {
        type: 'object',
        required: ['sub_id', 'fields'],
        properties: {
          sub_id: text,
          fields: {
            type: 'object',
            maxProperties: 30,
            properties: {
              annual_income: { type: 'integer', minimum: 0, maximum: 10_000_000 },
              loan_amount: { type: 'integer', minimum: 0, maximum: 1_000_000 },
              state: { type: 'string', pattern: '^[A-Z]{2}$' },
            },
            additionalProperties: { type: ['string', 'number', 'boolean'], maxLength: 128 },
          },
        },
      },
      response: { 200: { type: 'object', properties: { sub_id: text, status: text } } },
    },
  },
  async (request, reply) => {
    await admit(request, reply);
    const { sub_id: subId, fields } = request.body;
    await findSession(subId);
    await durableRows.query({
      name: 'inputs',
      text: 'INSERT INTO inputs (sub_id, fields) VALUES ($1, $2)',
      values: [subId, JSON.stringify(fields)],
    });
    await redis.hset(`session:${subId}`, fields);
    return { sub_id: subId, status: 'accepted' };
  },
);

let pendingViews = 0;

async function recordView(subId: string, shown: readonly string[]): Promise<void> {
  pendingViews++;
  try {
    const values = [subId, shown];
    await viewRows.query({ name: 'view', text: 'INSERT INTO views (sub_id, offers) VALUES ($1, $2)', values });
  } finally {
    pendingViews--;
  }
}

app.get<{ Querystring: { sub_id: string; max_offers: number } }>(
  `${basePath}/marketplace`,
  {
    schema: {
      querystring: {
        type: 'object',
        required: ['sub_id'],
        properties: { sub_id: text, format: text, max_offers: { type: 'integer', minimum: 1, maximum: 20 } },
      },
    },
  },
  async (request, reply) => {
    await admit(request, reply);
    const { sub_id: subId, max_offers: count } = request.query;
    await findSession(subId);
    const shown = offers.slice(0, count);
    const recorded = recordView(
      subId,
      shown.map(({ id }) => id),
    );
    if (pendingViews > pendingViewsMax) await recorded;
    const body = shown.map(({ id, head, tail }) => {
      const click = `${subId}.${id}`;
      return `${head}http://${request.headers.host}/c?t=${click}.${sign(click)}${tail}`;
    });
    return reply
      .type('application/json')
      .serializer((payload: string) => payload)
      .send(`{"sub_id":"${subId}",${envelope},"offers":[${body.join(',')}]}`);
  },
);

app.get<{ Querystring: { t: string } }>('/c', async (request, reply) => {
  const { t: token } = request.query;
  const end = token.lastIndexOf('.');
  const click = token.slice(0, end);
  if (!isSigned(click, token.slice(end + 1))) throw new Rejection(404, 'unknown link');
  const [subId, offer] = click.split('.', 2) as [string, string];
  await findSession(subId);
  const { lenderUrl } = fragments.get(offer)!;
  const values = [subId, offer];
  await durableRows.query({
    name: 'click',
    text: 'INSERT INTO clicks (sub_id, offer) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    values,
  });
  return reply.redirect(lenderUrl, 302);
});

const address = await app.listen({ host: '127.0.0.1', port: 0 });
announcePort(Number(new URL(address).port));
