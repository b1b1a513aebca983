import { isDeepStrictEqual } from 'node:util';

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
