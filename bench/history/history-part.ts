import type { BenchPart } from '../part.ts';
import { aggregator } from './aggregator.ts';
import { durableEvents } from './durable-events.ts';
import type { HistoryFigure, HistoryMeasure } from './history.ts';
import { restart } from './restart.ts';

const measures: readonly HistoryMeasure[] = [durableEvents, restart, aggregator];

export const historyPart: BenchPart = {
  name: 'history',
  about: 'what is kept: durable records, a restart, the counters',
  measure: async ({ scale, folder, progress }) => {
    const { rounds, seconds, historySessions: sessions } = scale;
    const history: HistoryFigure[] = [];
    for (const { name, measure } of measures) {
      progress.step(`history: ${name}`);
      history.push(...(await measure({ rounds, seconds, sessions, folder })));
    }
    return { history };
  },
};
