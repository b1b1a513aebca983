// An Express server that contains the marketplace. POST /offers returns offers for the fields in the body, such as { "loan_amount": 15000 }.
import process from 'node:process';
import express from 'express';
import { createMarketplace } from 'svc-marketplace';

const port = Number(process.env.PORT ?? 3000);
const app = express();
const marketplace = await createMarketplace({
  dataDir: process.env.DATA_DIR ?? './data',
  urls: { click: process.env.BASE_URL ?? `http://127.0.0.1:${port}` },
});

// A real program creates its key once and stores it as a secret.
const { key } = marketplace.keys.create({ account: 'demo', vertical: 'personal-loans', mode: 'test' });
const partner = marketplace.partnerApi(key);

app.post('/offers', express.json(), async (request, response) => {
  const userAgent = request.get('user-agent') ?? '';
  const session = await partner.createSession({ referrer_tag: 'express-page', user_agent: userAgent });
  if (!session.ok) return response.status(session.error.status).json(session.error);
  const { sub_id } = session.value;
  const inputs = await partner.submitInputs({ sub_id, fields: request.body });
  if (!inputs.ok) return response.status(inputs.error.status).json(inputs.error);
  const answer = await partner.getMarketplace({ sub_id });
  return answer.ok ? response.json(answer.value) : response.status(answer.error.status).json(answer.error);
});

app.get('/c', async (request, response) => {
  const { headers, method, url } = request;
  const purposes = [headers['sec-purpose'], headers.purpose, headers['x-purpose'], headers['x-moz']];
  const click = await marketplace.followClick(url, {
    method,
    userAgent: headers['user-agent'],
    purpose: purposes.filter(Boolean).join(', '),
    fetchDestination: headers['sec-fetch-dest'],
    fetchMode: headers['sec-fetch-mode'],
  });
  response.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  if (click.kind === 'redirect') return response.redirect(302, click.location);
  if (click.kind === 'unknown') return response.status(404).send('This link is not valid.');
  return response.status(503).set('Retry-After', `${click.retryAfterSeconds}`).end();
});

// The page to which clicks on sandbox and example offers lead.
app.get('/c/:page', (request, response) => {
  const page = marketplace.findLandingPage(request.url);
  if (page === null) return response.sendStatus(404);
  return response.set(page.headers).send(page.html);
});

app.get('/cdn/:file', (request, response) => {
  const logo = marketplace.findLogo(request.url);
  if (logo === null) return response.sendStatus(404);
  return response.set(logo.headers).send(Buffer.from(logo.svg));
});

const server = app.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}`));
const stop = () => server.close(() => marketplace.close());
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
