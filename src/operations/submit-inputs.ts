import Type from 'typebox';
import { bounds } from '../bounds.ts';
import type { VerticalWithProduct } from '../catalogs/product.ts';
import type { VerticalRegistry } from '../catalogs/vertical-registry.ts';
import { isJsonObject } from '../domain/assert-options.ts';
import { daysSinceEpoch, toCompactDate } from '../domain/calendar.ts';
import {
  durabilityFailure,
  failureOutcome,
  failureOutcomeWithCode,
  type Outcome,
  successOutcome,
} from '../domain/outcome.ts';
import { computeMatchReadiness, findConflictingField, validatePocketFields } from '../domain/pocket-fields.ts';
import { exceedsCodePointLimit } from '../domain/text.ts';
import { LogUnavailableError } from '../event-log/event-log.ts';
import type { SessionJournal } from '../journal/journal.ts';
import { type FindSessionDeps, findSession } from '../sessions/find-session.ts';
import { defineOperation } from './api-operation.ts';
import { pocketFieldsSchema } from './pocket-fields-schema.ts';
import { sessionMember } from './request-members.ts';
import { ignoredParametersProperty, stringEnum, subIdSchema, type ValueOf } from './schema-parts.ts';

export interface SubmitInputsDeps extends FindSessionDeps {
  readonly registry: Pick<VerticalRegistry, 'getProduct'>;
  readonly journal: SessionJournal;
  readonly pendingChanges: PendingFieldChanges;
}

/** Field changes that the journal has not made durable yet, by sub_id. The queue of the journal limits the number of these changes. */
export class PendingFieldChanges {
  readonly #bySession = new Map<string, Set<readonly number[]>>();

  /** Returns the changes of a session in the order in which they take effect. */
  listPendingChanges(subId: string): Iterable<readonly number[]> {
    return this.#bySession.get(subId) ?? [];
  }

  /** Adds field changes of a session to the pending changes. Returns a function that removes the added changes. */
  add(subId: string, changes: readonly number[]): () => void {
    const pending = this.#bySession.get(subId) ?? new Set();
    this.#bySession.set(subId, pending.add(changes));
    return () => {
      pending.delete(changes);
      if (pending.size === 0) this.#bySession.delete(subId);
    };
  }
}

const nameListSchema = (description: string) => Type.Array(Type.String(), { description });

/** Response of `POST /inputs` (docs/contract.md#submitting-fields). */
export type InputsResponse = ValueOf<typeof inputsSchema>;
const inputsSchema = Type.Object(
  {
    sub_id: subIdSchema,
    fields_accepted: nameListSchema('Accepted pocket fields of this call, in its order.'),
    fields_unknown: nameListSchema('Unknown names of this call, which were ignored.'),
    match_readiness: stringEnum(['high', 'partial', 'insufficient'], {
      description: '`insufficient` without a required field, `partial` without a conditional one, or `high`.',
    }),
    missing_required: nameListSchema('Missing fields that offers require.'),
    missing_conditional: nameListSchema('Missing fields that the submitted values make relevant.'),
    ...ignoredParametersProperty,
  },
  { title: 'Inputs' },
);

const fieldsSchema = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });

/**
 * POST /inputs (docs/contract.md#submitting-fields): adds the submitted pocket fields to a live session. If one field is invalid, no field
 * is added. Changes are durable in the journal before they take effect, so a crash cannot undo a change that a caller has seen. If the
 * journal cannot write the changes in time, the response is 503, and the changes take effect once they are durable.
 */
export const submitInputs = defineOperation({
  id: 'submitInputs',
  method: 'POST',
  path: '/inputs',
  limit: 'requests',
  summary: 'Submit pocket fields',
  description: 'The answers of the visitor, in one or several calls, which are merged.',
  body: {
    title: 'InputsRequest',
    members: {
      sub_id: sessionMember,
      fields: {
        schema: fieldsSchema,
        forVertical: ({ vertical }: VerticalWithProduct) => ({ schema: pocketFieldsSchema(vertical) }),
        accepts: isJsonObjectWithinBounds,
      },
    },
    examples: { inputs: { recorded: 'inputsRequest' } },
  },
  response: {
    description: 'Accepted and missing fields.',
    schema: inputsSchema,
    examples: { inputs: { recorded: 'inputs' } },
  },
  errors: ['INVALID_FIELD_VALUE', 'SUB_ID_EXPIRED', 'SUB_ID_NOT_FOUND'],
  invalidParamExample: 'fields',
  async handle(deps: SubmitInputsDeps, { sub_id: subId, fields }, { caller }): Promise<Outcome<InputsResponse>> {
    const found = findSession(deps, caller, subId);
    if (!found.ok) return found;
    const session = found.value;

    const today = toCompactDate(daysSinceEpoch(deps.clock.wallMs()));
    const submission = validatePocketFields(caller.vertical, fields, today);
    if (submission.invalid.length > 0) {
      return failureOutcome({ code: 'INVALID_FIELD_VALUE', fieldsInvalid: submission.invalid });
    }
    const product = deps.registry.getProduct(caller.vertical);
    const canConflict = product.findConflictingFields !== undefined;
    if (canConflict) {
      const earlier = [session.pocketFields, ...deps.pendingChanges.listPendingChanges(subId)] as const;
      const conflicting = findConflictingField(product, caller.vertical, earlier, submission.changes);
      if (conflicting !== null) return failureOutcome({ code: 'INVALID_FIELD_VALUE', fieldsInvalid: [conflicting] });
    }
    if (submission.changes.length > 0) {
      // Only the check for conflicts needs the pending changes.
      const endPending = canConflict ? deps.pendingChanges.add(subId, submission.changes) : () => {};
      try {
        await deps.journal.append(deps.subIds.toBytes(subId), submission.changes);
        endPending();
      } catch (error) {
        if (!(error instanceof LogUnavailableError)) throw error;
        const { durableLater } = error;
        if (durableLater === null) endPending();
        durableLater?.then(() => {
          endPending();
          session.mergeFields(submission.changes);
        });
        return durabilityFailure(bounds.retryAfterSeconds, durableLater !== null);
      }
    }
    // The changes are merged into the current fields, which may have changed since `findSession`. All field changes take effect in the order
    // in which the journal contains them.
    const merged = submission.changes.length > 0 ? session.mergeFields(submission.changes) : session.pocketFields;
    if (merged === null) return failureOutcomeWithCode('SUB_ID_EXPIRED');
    const readiness = computeMatchReadiness(caller.vertical, merged);
    return successOutcome({
      sub_id: subId,
      fields_accepted: submission.accepted,
      fields_unknown: submission.unknown,
      match_readiness: readiness.matchReadiness,
      missing_required: readiness.missingRequired,
      missing_conditional: readiness.missingConditional,
    });
  },
});

/** Whether `fields` is an object with few and short names. `validatePocketFields` checks the values. */
function isJsonObjectWithinBounds(fields: unknown): boolean {
  if (!isJsonObject(fields)) return false;
  const names = Object.keys(fields);
  return (
    names.length <= bounds.fieldsMax &&
    names.every((name) => !exceedsCodePointLimit(name, bounds.fieldNameCharactersMax))
  );
}
