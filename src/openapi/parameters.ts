import Type, { IsOptional } from 'typebox';
import { bounds } from '../bounds.ts';
import type { VerticalWithProduct } from '../catalogs/product.ts';
import type { RequestMember, RequestMembers } from '../operations/request-members.ts';
import type { OpenApiParameter } from './openapi-types.ts';

/** Describes query parameters, and path parameters whose names are in `pathParameters`, in the document of a vertical. */
export function listParameters(
  members: RequestMembers,
  vertical: VerticalWithProduct,
  pathParameters: readonly string[] = [],
): readonly OpenApiParameter[] {
  return Object.entries(members).map(([name, member]) => {
    const { description = '', schema } = { ...member, ...member.forVertical?.(vertical) };
    return {
      name,
      in: pathParameters.includes(name) ? 'path' : 'query',
      ...(isRequired(member) && { required: true }),
      description,
      schema,
      ...('items' in schema && ({ style: 'form', explode: false } as const)),
    };
  });
}

function isRequired({ schema }: RequestMember): boolean {
  return !IsOptional(schema) && !('default' in schema);
}

export const idempotencyKeyParameter: OpenApiParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes retries safe: while the session lives, the same key and body return the first response.',
  schema: Type.String({ maxLength: bounds.idempotencyKeyCharactersMax, pattern: '^[!-~]+$' }),
};
