import type { BenchPart } from '../part.ts';
import { projectionMeasure } from './aggregator.ts';
import { durableAppendsMeasure } from './durable-events.ts';
import type { HistoryFigure, HistoryMeasure } from './history.ts';
import { restartMeasure } from './restart.ts';

const historyMeasures: readonly HistoryMeasure[] = [durableAppendsMeasure, restartMeasure, projectionMeasure];

export const historyPart: BenchPart = {
  name: 'history',
  description: 'what is kept: durable records, a restart, the counters',
  measure: async ({ scale, folder, progress }) => {
    const { rounds, seconds, historySessions: sessions } = scale;
    const history: HistoryFigure[] = [];
    for (const { name, measure } of historyMeasures) {
      progress.step(`history: ${name}`);
      history.push(...(await measure({ rounds, seconds, sessions, folder })));
    }
    return { history };
  },
};
