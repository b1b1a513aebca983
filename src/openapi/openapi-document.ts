import { isDeepStrictEqual } from 'node:util';
import { bounds } from '../bounds.ts';
import type { VerticalWithProduct } from '../catalogs/product.ts';
import type { PublicUrls } from '../config/service-settings.ts';
import type { Vertical } from '../domain/vertical.ts';
import type { ApiOperation } from '../operations/api-operation.ts';
import { apiOperations } from '../operations/api-operations.ts';
import { apiPaths } from './api-paths.ts';
import { browserPathItems, widgetPaths } from './browser-paths.ts';
import { readRecordedExamples } from './recorded-examples.ts';
import { sharedErrorResponses } from './responses.ts';

/** Replaces every titled schema by a `$ref`, and returns the replaced schemas by title. */
export function extractComponents<Parts extends object>(
  parts: Parts,
): { readonly described: Parts; readonly schemas: Readonly<Record<string, unknown>> } {
  const schemas: Record<string, unknown> = {};
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const { title } = value as { readonly title?: unknown };
    if (typeof title !== 'string') return visitMembers(value);
    // The value null reserves the place of a schema in the document, before the schemas that the schema contains.
    if (!Object.hasOwn(schemas, title)) schemas[title] = null;
    const schema = visitMembers(value);
    if (schemas[title] === null) schemas[title] = schema;
    else if (!isDeepStrictEqual(schemas[title], schema)) throw new Error(`two schemas have the title ${title}`);
    return { $ref: `#/components/schemas/${title}` };
  };
  const visitMembers = (value: object): object =>
    Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, name === 'examples' ? member : visit(member)]),
    );
  return { described: visitMembers(parts) as Parts, schemas };
}

export function openApiDocumentPath({ segment }: Pick<Vertical, 'segment'>): string {
  return `/v1/${segment}/openapi.json`;
}

/** Returns the display name of a vertical, such as `Personal loans`. */
export function verticalTitle({ segment }: Pick<Vertical, 'segment'>): string {
  const words = segment.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export type OpenApiDocument = ReturnType<typeof openApiDocument>;

/** Creates the OpenAPI 3.1 document of one vertical as a JSON-serializable object. */
export function openApiDocument(
  withProduct: VerticalWithProduct,
  urls: PublicUrls,
  operations: readonly ApiOperation[] = apiOperations,
) {
  const { vertical } = withProduct;
  const samples = readRecordedExamples(vertical.segment, urls);
  const paths = {
    ...apiPaths(operations, withProduct, samples),
    ...browserPathItems(withProduct, urls),
    ...widgetPaths(withProduct, urls, samples),
  };
  const { described, schemas } = extractComponents({ paths, responses: sharedErrorResponses });
  return {
    openapi: '3.1.1',
    info: {
      title: `${verticalTitle(vertical)} marketplace API`,
      version: '1',
      summary: 'Sessions, pocket fields, matched and ranked offers, and revenue by referrer tag.',
      description: introduction(vertical),
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${urls.public}/v1/${vertical.segment}`, description: 'This service.' }],
    security: [{ apiKey: [] }],
    tags: [
      { name: 'API', description: "Operations for a partner's server, with an API key." },
      {
        name: 'Browser',
        description: "URLs from responses that a visitor's browser opens. They need no key. Use them unchanged.",
      },
      {
        name: 'Widget script',
        description: "Requests of the widget's own script. They may change in any release: do not use them yourself.",
      },
    ],
    paths: described.paths,
    components: {
      schemas,
      responses: described.responses,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `A key of this vertical: \`${vertical.keyPrefix}live_\` for real visitors, \`${vertical.keyPrefix}test_\` for sandbox offers without revenue. Keys with the scope \`analytics\` can only read figures: other operations respond with 403 \`INSUFFICIENT_SCOPE\`. Keep live keys on your server, never in a page.`,
        },
      },
    },
  };
}

export function openApiText(vertical: VerticalWithProduct, urls: PublicUrls): string {
  return `${JSON.stringify(openApiDocument(vertical, urls), null, 2)}\n`;
}

function introduction({ keyPrefix }: Vertical): string {
  return `Create a session for each page load, with a referrer tag. Submit the visitor's answers as pocket fields, then get matched and ranked offers. The click URL of an offer is a redirect that counts the click and its expected revenue. Analytics report all of it by tag.

Requests carry \`Authorization: Bearer ${keyPrefix}…\`: a \`${keyPrefix}live_\` key for real visitors, a \`${keyPrefix}test_\` key for sandbox offers without revenue. Bodies are JSON, times are ISO 8601 in UTC. Unknown parameters and members of a request are ignored, and responses may get new members, which clients must ignore.

An error is \`{"error": CODE, "message": TEXT}\`, and never repeats parts of the request. A request is checked in this order: path and method, key, vertical, scope, limits, size and type of the body, JSON, its members, the session, the pocket fields. An unknown path gets 404 \`NOT_FOUND\`; a head over ${bounds.requestHeadBytesMax / 1024} KiB gets 431, and a request that is not HTTP/1.1 gets 400 or 505, both without a body of this API. Every path allows \`OPTIONS\`, and \`HEAD\` where it allows \`GET\`, and lists its methods in \`Allow\`. The paths of the widget's script refuse \`OPTIONS\` for the same reasons as other requests.

Each key has limits. By default they are ${bounds.requestsPerMinuteDefault} requests in any 60 seconds, ${bounds.analyticsPerMinuteDefault} of them analytics queries, and ${bounds.sessionsPerDayDefault} sessions per UTC day. A refused request does not count.`;
}
