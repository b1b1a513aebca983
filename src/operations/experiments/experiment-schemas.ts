import Type from 'typebox';
import { bounds } from '../../bounds.ts';
import { nullableSchema } from '../../domain/nullable-schema.ts';
import { experimentOutcomes, experimentStates } from '../../experiments/experiment.ts';
import {
  ignoredParametersProperty,
  isoDateSchema,
  nonNegativeIntegerSchema,
  pageEndProperties,
  stringEnum,
  tagSchema,
  timestampSchema,
  type ValueOf,
} from '../schema-parts.ts';

const experimentNameSchema = tagSchema('The name of the experiment, chosen by the caller.');

/** The path parameter `name` of the operations on one experiment. */
export const experimentNameMember = { description: 'The name of the experiment.', schema: experimentNameSchema };

const textSchema = (description: string) =>
  nullableSchema(Type.String({ maxLength: bounds.experimentTextCharactersMax, description }));

const tagOfArmSchema = tagSchema('The tag of its sessions.');
const weightSchema = Type.Number({
  minimum: bounds.armWeightMin,
  maximum: 1,
  description: 'The intended share of the units. The weights of all arms add up to 1.',
});
const labelSchema = nullableSchema(
  Type.String({
    maxLength: bounds.experimentLabelCharactersMax,
    description: 'The name of the arm in sentences; by default the tag.',
  }),
);

const armsLimits = { minItems: bounds.experimentArmsMin, maxItems: bounds.experimentArmsMax };

/** Schemas of the members of a definition that requests and responses have in common. */
const definitionSchemas = {
  control: tagSchema('The `referrer_tag` of the arm with which the other arms are compared.'),
  unit: stringEnum(['session', 'visitor'], {
    description: 'What is assigned to an arm: each session, or each visitor.',
  }),
  assignment: stringEnum(['own', 'hash'], {
    description: 'Who assigns a visitor: your own rule, or a hash of the `unit_id` (only with the unit `visitor`).',
  }),
  starts_on: isoDateSchema('The first UTC day whose sessions count.'),
  ends_on: nullableSchema(isoDateSchema('The last UTC day whose sessions count; `null` without a planned end.')),
  min_effect_percent: nullableSchema(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: bounds.experimentEffectPercentMax,
      description: "The smallest difference that matters, in percent of the control's revenue per session.",
    }),
  ),
  cap_usd: nullableSchema(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: bounds.confirmedRevenueUsdMax,
      description: 'The largest revenue of a session that counts, in USD with up to six decimals.',
    }),
  ),
  hypothesis: textSchema('What you expect, in your own words.'),
  dimensions: Type.Array(Type.String({ minLength: 1, maxLength: bounds.metadataCharactersMax }), {
    maxItems: bounds.experimentDimensionsMax,
    description: 'Names of session metadata by which results can be broken down.',
  }),
};

const requestedArmSchema = Type.Object(
  { referrer_tag: tagOfArmSchema, weight: weightSchema, label: Type.Optional(labelSchema) },
  { title: 'ExperimentArmRequest' },
);

/** Schemas of the members of the body of PUT /experiments/{name}. Null is the same as an absent member. */
export const definitionRequestSchemas = {
  ...definitionSchemas,
  arms: Type.Array(requestedArmSchema, { ...armsLimits, description: 'The variants to compare.' }),
  assignment: Type.Optional(definitionSchemas.assignment),
  ends_on: Type.Optional(definitionSchemas.ends_on),
  min_effect_percent: Type.Optional(definitionSchemas.min_effect_percent),
  cap_usd: Type.Optional(definitionSchemas.cap_usd),
  hypothesis: Type.Optional(definitionSchemas.hypothesis),
  dimensions: Type.Optional(definitionSchemas.dimensions),
};

/** The definition of an experiment in a request. */
export type ExperimentDefinitionRequest = ValueOf<Type.TObject<typeof definitionRequestSchemas>>;

const armSchema = Type.Object(
  { referrer_tag: tagOfArmSchema, weight: weightSchema, label: labelSchema },
  { title: 'ExperimentArm' },
);

/** Schemas of the members of a closing that requests and responses have in common. */
export const closingSchemas = {
  outcome: stringEnum(experimentOutcomes, { description: 'What you decided.' }),
  arm: nullableSchema(tagSchema('The arm that the outcome is about.')),
  note: textSchema('Your note.'),
};

const closingSchema = Type.Object(
  {
    ...closingSchemas,
    closed_at: timestampSchema('When the experiment was closed'),
    closed_by: nullableSchema(Type.String({ description: 'The id of the API key; `null` if it is not known.' })),
  },
  { title: 'ExperimentClosing' },
);

/** An experiment in API responses (docs/contract.md#experiments). */
export type ExperimentResponse = ValueOf<typeof experimentSchema>;
const experimentProperties = {
  name: experimentNameSchema,
  state: stringEnum(experimentStates, {
    description: 'Where the experiment is between its first day and its results.',
  }),
  arms: Type.Array(armSchema, armsLimits),
  ...definitionSchemas,
  planned_day: nullableSchema(
    isoDateSchema('The UTC day whose close completes the results; `null` without a planned end.'),
  ),
  retrospective: Type.Boolean({
    description: 'Whether the experiment was created after its first day, so that it decides nothing.',
  }),
  revenue_days: nonNegativeIntegerSchema('Days after the day of a session in which revenue counts.'),
  grace_days: nonNegativeIntegerSchema(
    'Further days in which the service may receive the confirmation of this revenue.',
  ),
  created_at: timestampSchema('When the experiment was created'),
  deleted: Type.Boolean({ description: 'Whether the experiment is hidden from the list.' }),
  closing: nullableSchema(closingSchema),
};
export const experimentSchema = Type.Object(
  { ...experimentProperties, ...ignoredParametersProperty },
  { title: 'Experiment' },
);

/** The arm of a visitor. */
export type ExperimentArmResponse = ValueOf<typeof experimentArmSchema>;
export const experimentArmSchema = Type.Object(
  { referrer_tag: tagSchema('The tag of the arm, for `POST /session`.'), ...ignoredParametersProperty },
  { title: 'AssignedArm' },
);

/** One page of the experiments of a tenant. */
export type ExperimentsResponse = ValueOf<typeof experimentsSchema>;
export const experimentsSchema = Type.Object(
  {
    data: Type.Array(experimentSchema, {
      maxItems: bounds.analyticsPageItemsMax,
      description: 'Experiments in alphabetical order, without the deleted ones.',
    }),
    ...pageEndProperties,
    ...ignoredParametersProperty,
  },
  { title: 'Experiments' },
);
