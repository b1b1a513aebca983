import { isDeepStrictEqual } from 'node:util';
import { bounds } from '../bounds.ts';
import type { PublicUrls } from '../config/config.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { apiPaths } from './api-paths.ts';
import { browserPaths, widgetApiPaths } from './browser-paths.ts';
import type { OpenApiDocument } from './openapi-types.ts';
import { readRecordedExamples } from './recorded-examples.ts';
import { sharedErrorResponses } from './responses.ts';

/**
 * The same parts of a document with every titled schema taken out and referred to by its title, and those schemas. Only JSON
 * values are left: what a schema carries besides, for its validator, is gone.
 */
export function extractComponents<Parts extends object>(
  parts: Parts,
): { readonly described: Parts; readonly schemas: Readonly<Record<string, unknown>> } {
  const schemas: Record<string, unknown> = {};
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const { title } = value as { readonly title?: unknown };
    if (typeof title !== 'string') return visitMembers(value);
    if (!Object.hasOwn(schemas, title)) schemas[title] = null; // Keeps its place, before those it refers to.
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

/** Where the document of a vertical is served. */
export function openApiPath({ segment }: Pick<Vertical, 'segment'>): string {
  return `/v1/${segment}/openapi.json`;
}

/** The name of a vertical as people read it: `Personal loans`. */
export function verticalTitle({ segment }: Pick<Vertical, 'segment'>): string {
  const words = segment.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The API of one vertical as an OpenAPI 3.1 document, in JSON values alone. */
export function openApiDocument(vertical: Vertical, urls: PublicUrls): OpenApiDocument {
  const samples = readRecordedExamples(vertical.segment, urls);
  const paths = { ...apiPaths(vertical, samples), ...browserPaths(urls), ...widgetApiPaths(urls, samples) };
  const { described, schemas } = extractComponents({ paths, responses: sharedErrorResponses });
  return {
    openapi: '3.1.1',
    info: {
      title: `${verticalTitle(vertical)} marketplace API`,
      version: '1',
      summary: 'Sessions, pocket fields, matched and ranked offers, and what each experiment earned.',
      description: introduction(vertical),
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${urls.public}/v1/${vertical.segment}`, description: 'This service.' }],
    security: [{ apiKey: [] }],
    tags: [
      { name: 'API', description: "What a partner's server calls, with its API key." },
      {
        name: 'Browser',
        description: "Where answers send a visitor's browser. These need no key, and are used as they come.",
      },
      {
        name: 'Widget script',
        description:
          "What our own script in a visitor's browser asks and tells. Both come from the same release, and may change together in any: build nothing on these.",
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
          description: `A key of this vertical: \`${vertical.keyPrefix}live_\` for real visitors, \`${vertical.keyPrefix}test_\` for sandbox offers that earn nothing. It belongs on your server, never into a page.`,
        },
      },
    },
  };
}

/** The same as it is served and filed. */
export function openApiText(vertical: Vertical, urls: PublicUrls): string {
  return `${JSON.stringify(openApiDocument(vertical, urls), null, 2)}\n`;
}

function introduction({ keyPrefix }: Vertical): string {
  return `A session is created for each page load, under the tag of an experiment. What its visitor fills in is submitted as pocket fields; out of them come offers, matched and ranked. Whoever follows an offer passes through our redirect, which counts the click and its expected revenue. Analytics add it all up by tag.

Requests carry \`Authorization: Bearer ${keyPrefix}…\`: a \`${keyPrefix}live_\` key for real visitors, a \`${keyPrefix}test_\` key for sandbox offers that earn nothing. Bodies are JSON, times are ISO 8601 in UTC. Parameters and members that are not described here are passed over, and answers may get more members: read those you know.

An error is \`{"error": CODE, "message": TEXT}\`, and never holds anything of what was sent. A request is checked in this order: path and method, key, vertical, limits, size and type of the body, JSON, its members, the session, the pocket fields. An address that is none gets 404 \`NOT_FOUND\`; a head over ${bounds.requestHeadBytesMax / 1024} KiB a bare 431, and a request that is no HTTP/1.1 a bare 400 or 505. Every path answers \`OPTIONS\`, where there is \`GET\` also \`HEAD\`, and tells so in \`Allow\`; those of the widget's script tell it to nobody whom they would refuse.

Limits hold for each key: ${bounds.requestsPerMinuteDefault} requests in any 60 seconds, ${bounds.analyticsPerMinuteDefault} of them analytics queries, and ${bounds.sessionsPerDayDefault} sessions a UTC day, unless the operator or the key itself says otherwise. A refused request counts against none.`;
}
