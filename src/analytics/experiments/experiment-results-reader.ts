import { LRUCache } from 'lru-cache';
import { bounds } from '../../bounds.ts';
import { assembleBreakdown } from '../../experiments/assemble-breakdown.ts';
import { assembleResults, resultsDayOf } from '../../experiments/assemble-results.ts';
import { type Concentration, measureConcentration } from '../../experiments/concentration.ts';
import type { ExperimentResults } from '../../experiments/experiment-results.ts';
import type { ExperimentResultsQuery } from '../analytics.ts';
import type { SqlDatabase } from '../sql-database.ts';
import { readBreakdown } from './experiment-breakdown-reader.ts';
import { readExperimentFigures } from './experiment-figures-reader.ts';
import { findExperiment } from './experiment-table.ts';

/** The results of a closed experiment are stored. */
const unmeasured: Concentration = { largestMicros: [], capped: null };

type ReadResults = (database: SqlDatabase, query: ExperimentResultsQuery) => ExperimentResults | null;

/**
 * Creates the query of the results of an experiment. The query returns null if the tenant has no experiment with the name. It caches the
 * concentration of the mature revenue, because reading all units with revenue takes longer than everything else.
 */
export function createResultsReader(): ReadResults {
  const concentrations = new LRUCache<string, Concentration>({ max: bounds.concentrationsCachedMax });
  return (database, { today, withSeries, isLast, groupBy, ...query }) => {
    const experiment = findExperiment(database, query);
    if (experiment === null) return null;
    const { definition, closing } = experiment;
    const asOf = resultsDayOf(experiment, today);
    // The mature revenue of a day never changes, but a definition can be replaced before its first session.
    const key = JSON.stringify([query, asOf, definition]);
    const cached = concentrations.get(key) ?? null;
    const isMeasured = cached === null && closing === null;
    const { figures } = readExperimentFigures(database, { ...query, asOf, units: isMeasured ? 'largest' : 'none' })!;
    const concentration = cached ?? (closing === null ? measureConcentration(definition, figures) : unmeasured);
    if (isMeasured && figures.fillProgress === null) concentrations.set(key, concentration);
    const { results, series } = assembleResults(experiment, figures, concentration, isLast);
    const groups = groupBy === null ? null : readBreakdown(database, { ...query, groupBy, asOf });
    const isFilling = figures.fillProgress !== null;
    return {
      ...results,
      ...(groupBy === null || groups === null
        ? {}
        : { breakdown: assembleBreakdown(definition, groupBy, groups, isFilling) }),
      ...(withSeries ? { series: [...series] } : {}),
    };
  };
}
