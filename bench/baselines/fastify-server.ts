/**
 * Baseline server like `uws-server.ts`, with Fastify in its default configuration: router and JSON body parser, without logger and schemas.
 */
import { fastify } from 'fastify';
import { announcePort, groupResponsesByRoute, readResponses } from './baseline-response.ts';

/** Serializer that returns the body unchanged and adds no charset to the content type, like the service. */
const serializeUnchanged = (body: string) => body;

const app = fastify();
for (const { method, path, responseFor } of groupResponsesByRoute(readResponses(['date', 'content-length']))) {
  app.route({
    method,
    url: path,
    handler: (request, reply) => {
      const question = request.url.indexOf('?');
      const answer = responseFor(question === -1 ? '' : request.url.slice(question + 1));
      reply.code(answer.status);
      for (const [name, value] of answer.headers) reply.header(name, value);
      // Removes default headers that the service does not send.
      reply.raw.removeHeader('Connection');
      if (answer.body === '') reply.send();
      else reply.serializer(serializeUnchanged).send(answer.body);
    },
  });
}
const address = await app.listen({ host: '127.0.0.1', port: 0 });
announcePort(Number(new URL(address).port));
