import { daysSinceEpoch, formatIsoDate, formatIsoTimestamp } from '../../domain/calendar.ts';
import { microsToUsd } from '../../domain/money.ts';
import { type Experiment, experimentStateOn, isRetrospective, plannedDayOf } from '../../experiments/experiment.ts';
import type { ExperimentResponse } from './experiment-schemas.ts';

/** Returns the id of an API key by its number, or null if it is not known. */
export type FindKeyId = (keyNumber: number) => string | null;

const formatDayOrNull = (day: number | null) => (day === null ? null : formatIsoDate(day));

/** Returns an experiment as the API describes it at the time `nowMs`, in Unix milliseconds. */
export function toExperimentView(experiment: Experiment, nowMs: number, findKeyId: FindKeyId): ExperimentResponse {
  const { name, definition, createdMs, closing, isDeleted } = experiment;
  const { capMicros } = definition;
  return {
    name,
    state: experimentStateOn(experiment, daysSinceEpoch(nowMs)),
    arms: definition.arms.map(({ referrerTag, weight, label }) => ({ referrer_tag: referrerTag, weight, label })),
    control: definition.control,
    unit: definition.unit,
    assignment: definition.assignment,
    starts_on: formatIsoDate(definition.startsOn),
    ends_on: formatDayOrNull(definition.endsOn),
    min_effect_percent: definition.minEffectPercent,
    cap_usd: capMicros === null ? null : microsToUsd(capMicros),
    hypothesis: definition.hypothesis,
    dimensions: definition.dimensions,
    planned_day: formatDayOrNull(plannedDayOf(definition)),
    retrospective: isRetrospective(experiment),
    revenue_days: definition.revenueDays,
    grace_days: definition.graceDays,
    created_at: formatIsoTimestamp(createdMs),
    deleted: isDeleted,
    closing: closing && {
      outcome: closing.outcome,
      arm: closing.arm,
      note: closing.note,
      closed_at: formatIsoTimestamp(closing.closedMs),
      closed_by: findKeyId(closing.keyNumber),
    },
  };
}
