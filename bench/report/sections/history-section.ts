import type { HistoryFigure } from '../../history/history.ts';
import type { ReportSection } from '../section.ts';

export function historySection(figures: readonly HistoryFigure[]): ReportSection[] {
  if (figures.length === 0) return [];
  return [
    {
      id: 'history',
      title: 'What is kept',
      text: ['The logs, what a restart reads back, and the counters.'],
      tables: [
        {
          caption: 'What is kept',
          head: ['What is kept', 'Figure', 'Target, or beside what'],
          rows: figures.map(({ name, value, beside }) => [name, value, beside]),
          plots: [],
        },
      ],
    },
  ];
}
