/** As `bare-uws-server.ts`, with Fastify as it comes: its router, its JSON body parser, its reply, no logger, no schema. */
import { fastify } from 'fastify';
import { announcePort, groupByRoute, readResponses } from './baseline-response.ts';

/** What it would cost to write an answer as JSON is no part of writing the same bytes; nor is a charset in its type. */
const serializeUnchanged = (body: string) => body;

const app = fastify();
for (const { method, path, responseFor } of groupByRoute(readResponses(['date', 'content-length']))) {
  app.route({
    method,
    url: path,
    handler: (request, reply) => {
      const question = request.url.indexOf('?');
      const answer = responseFor(question === -1 ? '' : request.url.slice(question + 1));
      reply.code(answer.status);
      for (const [name, value] of answer.headers) reply.header(name, value);
      // Unasked it would tell that the connection stays open, and for how long: bytes that the service does not write.
      reply.raw.removeHeader('Connection');
      if (answer.body === '') reply.send();
      else reply.serializer(serializeUnchanged).send(answer.body);
    },
  });
}
const address = await app.listen({ host: '127.0.0.1', port: 0 });
announcePort(Number(new URL(address).port));
