import Type, { IsOptional, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../bounds.ts';
import type { VerticalWithProduct } from '../catalogs/product.ts';
import { isJsonObject } from '../domain/assert-options.ts';
import type { ErrorCode, RequestParamName } from '../domain/errors.ts';
import { type Failure, failureOutcome, invalidRequest, type Outcome, successOutcome } from '../domain/outcome.ts';
import { parseCount } from '../domain/query-string.ts';
import { isVisibleAscii } from '../domain/text.ts';
import type { Vertical } from '../domain/vertical.ts';
import { subIdSchema, type ValueOf } from './schema-parts.ts';

/** A query parameter, a path parameter, or a member of a request body. */
export interface RequestMember<Schema extends TSchema = TSchema> {
  /**
   * Schema of the values. A member is required unless its schema is `Type.Optional(...)` or, for a parameter, has a `default`. A parameter is
   * sent as text: a positive integer, a list separated by commas, a flag (`flagSchema`) or a string.
   */
  readonly schema: Schema;
  /** Description of a parameter. A member of a body is described in its schema. */
  readonly description?: string;
  /** Schema and description in the document of a vertical; absent if they are the same in all verticals. */
  readonly forVertical?: (vertical: VerticalWithProduct) => { readonly description?: string; readonly schema: TSchema };
  /** Replaces the check of `schema`, for a rule that the schema cannot express. */
  readonly accepts?: (value: unknown, vertical: VerticalRules) => boolean;
  /** Code of the error for an invalid value. Default: INVALID_REQUEST. */
  readonly errorCode?: ErrorCode;
  /** Rule for valid values, which follows the name in the message of INVALID_REQUEST. Default: the rule in `paramErrorTexts`. */
  readonly rule?: (vertical: VerticalRules) => string;
  /** Name of another parameter. This parameter is required if the other parameter is absent. */
  readonly requiredWithout?: string;
}

/** Properties of a vertical on which the checks of requests depend. */
export type VerticalRules = Pick<Vertical, 'sortOrders'>;

export type RequestMembers = Readonly<Record<string, RequestMember>>;

/** Values of the members of a valid request. */
export type MemberValues<Members extends RequestMembers> = ValueOf<
  Type.TObject<{ [Name in keyof Members]: Members[Name]['schema'] }>
>;

/** Schema of a parameter that is `true` or `false`, by default `false`. */
export const flagSchema = Type.Unsafe<boolean>({ type: 'string', enum: ['true', 'false'], default: 'false' });

/** The member `sub_id`. A text that is no sub_id is accepted, because `findSession` rejects it with SUB_ID_NOT_FOUND. */
export const sessionMember = {
  description: 'The session.',
  schema: subIdSchema,
  accepts: (value: unknown) => typeof value === 'string',
};

/** The member `unit_id`. */
export const unitIdMember = {
  description: 'Your own opaque id of the visitor.',
  schema: Type.String({
    maxLength: bounds.unitIdCharactersMax,
    pattern: '^[!-~]+$',
    description:
      'Your own opaque id of the visitor, by which experiments recognize the visitor. Only a keyed hash of the id is stored.',
  }),
  accepts: (value: unknown) => typeof value === 'string' && isVisibleAscii(value, bounds.unitIdCharactersMax),
};

/** A member with the functions that are derived from its schema. */
interface PreparedMember {
  readonly name: string;
  readonly member: RequestMember;
  readonly isRequired: boolean;
  /** Value of an absent parameter. */
  readonly defaultValue: unknown;
  /** Returns the value of a parameter; undefined for an invalid text. */
  readonly parseText: (text: string, vertical: VerticalRules) => unknown;
  readonly accepts: (value: unknown, vertical: VerticalRules) => boolean;
}

/** Validates the parameters or the body members of one operation, in the order of their definition. */
export class MemberValidator<Members extends RequestMembers = RequestMembers> {
  readonly names: readonly (keyof Members & string)[];
  readonly #members: readonly PreparedMember[];

  constructor(members: Members) {
    this.names = Object.keys(members);
    this.#members = Object.entries(members).map(([name, member]) => prepareMember(name, member));
  }

  /** Parses the texts of parameters. Returns the values, or the error of the first invalid parameter. */
  parseTexts(texts: ParameterTexts, vertical: VerticalRules): Outcome<MemberValues<Members>> {
    const values: Record<string, unknown> = {};
    for (const prepared of this.#members) {
      const { name, member } = prepared;
      const text = texts[name];
      if (text === undefined) {
        const { requiredWithout } = member;
        if (prepared.isRequired || (requiredWithout !== undefined && texts[requiredWithout] === undefined)) {
          return invalidRequest(name as RequestParamName);
        }
        values[name] = prepared.defaultValue;
        continue;
      }
      const value = prepared.parseText(text, vertical);
      if (value === undefined) return invalidMember(name, member, member.rule?.(vertical));
      values[name] = value;
    }
    return successOutcome(values as MemberValues<Members>);
  }

  /**
   * Converts the members of an object, such as the argument of a method of the embedded API, to the texts of parameters. Returns an error for
   * a member of the wrong type and for a missing required member. Does not check values.
   */
  toTexts(argument: unknown): Outcome<ParameterTexts> {
    const texts: Record<string, string> = {};
    for (const { name, member, isRequired } of this.#members) {
      const value: unknown = (argument as Readonly<Record<string, unknown>> | null | undefined)?.[name];
      if (value === undefined && !isRequired) continue;
      if (!hasTypeOfSchema(value, member.schema)) return invalidMember(name, member);
      texts[name] = String(value);
    }
    return successOutcome(texts);
  }

  /** Validates the members of a request body. Returns the error of the first invalid member, or null. */
  findInvalidMember(body: unknown, vertical: VerticalRules): Failure | null {
    if (!isJsonObject(body)) return invalidRequest('body');
    for (const { name, member, isRequired, accepts } of this.#members) {
      const value = body[name];
      const isValid = value === undefined ? !isRequired : accepts(value, vertical);
      if (!isValid) return invalidMember(name, member, member.rule?.(vertical));
    }
    return null;
  }
}

/** Texts of parameters by name; undefined for an absent parameter. */
export type ParameterTexts = Readonly<Record<string, string | undefined>>;

/** Keywords of the schemas of parameters. */
interface ParameterKeywords {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly maximum?: number;
  readonly default?: unknown;
}

function prepareMember(name: string, member: RequestMember): PreparedMember {
  const { schema } = member;
  const defaultValue = isFlag(schema) ? false : (schema as ParameterKeywords).default;
  const isOptional = IsOptional(schema);
  const accepts = member.accepts ?? createCheck(schema);
  return {
    name,
    member,
    isRequired: !isOptional && defaultValue === undefined,
    defaultValue: isOptional ? undefined : defaultValue,
    parseText: createTextParser(schema, accepts),
    accepts,
  };
}

function createCheck(schema: TSchema): (value: unknown) => boolean {
  const { type, enum: words } = schema as ParameterKeywords;
  if (type === 'string' && words !== undefined) return (value) => words.includes(value as string);
  const validator = Compile(schema);
  return (value) => validator.Check(value);
}

/** Returns the function that parses a parameter. Integers and flags have no other check than the parser. */
function createTextParser(schema: ParameterKeywords, accepts: PreparedMember['accepts']): PreparedMember['parseText'] {
  const { type, maximum = Number.MAX_SAFE_INTEGER } = schema;
  if (type === 'integer') return (text) => parseCount(text, maximum) ?? undefined;
  if (isFlag(schema)) return (text) => (text === 'true' ? true : text === 'false' ? false : undefined);
  if (type !== 'array') return (text, vertical) => (accepts(text, vertical) ? text : undefined);
  return (text, vertical) => {
    const items = text === '' ? [] : text.split(',');
    return accepts(items, vertical) ? items : undefined;
  };
}

function isFlag(schema: ParameterKeywords): boolean {
  return schema.enum?.join() === 'true,false';
}

/** Whether a value has the JavaScript type in which a program passes a parameter with this schema. */
function hasTypeOfSchema(value: unknown, schema: ParameterKeywords): boolean {
  if (schema.type === 'array') return Array.isArray(value) && value.every((item) => typeof item === 'string');
  return typeof value === (schema.type === 'integer' ? 'number' : isFlag(schema) ? 'boolean' : 'string');
}

function invalidMember(name: string, { errorCode }: RequestMember, rule?: string): Failure {
  return errorCode === undefined ? invalidRequest(name as RequestParamName, rule) : failureOutcome({ code: errorCode });
}
