// A Fastify server that contains the marketplace. POST /offers returns offers for the fields in the body, such as { "loan_amount": 15000 }.
import process from 'node:process';
import fastify from 'fastify';
import { createMarketplace } from 'svc-marketplace';

const port = Number(process.env.PORT ?? 3000);
const app = fastify({ logger: { level: 'warn' } });
const marketplace = await createMarketplace({
  dataDir: process.env.DATA_DIR ?? './data',
  urls: { click: process.env.BASE_URL ?? `http://127.0.0.1:${port}` },
  logger: app.log,
});
app.addHook('onClose', () => marketplace.close());

// A real program creates its key once and stores it as a secret.
const { key } = marketplace.keys.create({ account: 'demo', vertical: 'personal-loans', mode: 'test' });
const partner = marketplace.partnerApi(key);

app.post<{ Body: Readonly<Record<string, unknown>> }>('/offers', async (request, reply) => {
  const userAgent = request.headers['user-agent'] ?? '';
  const session = await partner.createSession({ referrer_tag: 'fastify-page', user_agent: userAgent });
  if (!session.ok) return reply.code(session.error.status).send(session.error);
  const { sub_id } = session.value;
  const inputs = await partner.submitInputs({ sub_id, fields: request.body });
  if (!inputs.ok) return reply.code(inputs.error.status).send(inputs.error);
  const answer = await partner.getMarketplace({ sub_id });
  return answer.ok ? answer.value : reply.code(answer.error.status).send(answer.error);
});

app.get('/c', async (request, reply) => {
  const { headers, method, url } = request;
  const purposes = [headers['sec-purpose'], headers.purpose, headers['x-purpose'], headers['x-moz']];
  const click = await marketplace.followClick(url, {
    method,
    userAgent: headers['user-agent'],
    purpose: purposes.filter(Boolean).join(', '),
    fetchDestination: headers['sec-fetch-dest'],
    fetchMode: headers['sec-fetch-mode'],
  });
  reply.header('Cache-Control', 'no-store').header('Referrer-Policy', 'no-referrer');
  if (click.kind === 'redirect') return reply.redirect(click.location, 302);
  if (click.kind === 'unknown') return reply.code(404).send('This link is not valid.');
  return reply.code(503).header('Retry-After', click.retryAfterSeconds).send('');
});

// The page to which clicks on sandbox and example offers lead.
app.get('/c/:page', (request, reply) => {
  const page = marketplace.findLandingPage(request.url);
  if (page === null) return reply.callNotFound();
  return reply.headers(page.headers).send(page.html);
});

app.get('/cdn/:file', (request, reply) => {
  const logo = marketplace.findLogo(request.url);
  if (logo === null) return reply.callNotFound();
  return reply.headers(logo.headers).send(logo.svg);
});

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => app.close());
await app.listen({ port });
console.log(`http://127.0.0.1:${port}`);
