import type { MicroResult } from '../../micro/micro.ts';
import { whole } from '../numbers.ts';
import type { ReportSection } from '../section.ts';

export function microSection(results: readonly MicroResult[]): ReportSection[] {
  if (results.length === 0) return [];
  return [
    {
      id: 'micro',
      title: 'Hot functions alone',
      text: ['One function at a time, called in the process that measures.'],
      tables: [
        {
          caption: 'Time of one call',
          head: ['Function', 'ns an operation (middle)', 'p99 ns'],
          rows: results.map(({ name, medianNs, p99Ns }) => [name, whole(medianNs), whole(p99Ns)]),
          plots: [
            {
              kind: 'bars',
              title: 'Time of one call, with a whisker to the 99th percentile; logarithmic scale',
              logarithmic: true,
              reference: null,
              unit: 'ns',
              groups: results.map(({ name, medianNs, p99Ns }) => ({
                label: name,
                bars: [
                  {
                    label: '',
                    look: 0,
                    value: medianNs,
                    low: medianNs,
                    high: p99Ns,
                    target: null,
                    text: whole(medianNs),
                  },
                ],
              })),
            },
          ],
        },
      ],
    },
  ];
}
