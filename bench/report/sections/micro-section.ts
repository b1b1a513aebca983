import type { MicroResult } from '../../micro/micro.ts';
import { formatInteger } from '../numbers.ts';
import { type ReportSection, removeEmptyColumns } from '../section.ts';

export function microSection(results: readonly MicroResult[]): ReportSection[] {
  if (results.length === 0) return [];
  return [
    {
      id: 'micro',
      title: 'Hot functions alone',
      text: ['One function at a time, called in the process that measures.'],
      tables: [
        removeEmptyColumns({
          caption: 'Time of one call',
          head: ['Function', 'One call', 'ns (middle)', 'p99 ns', 'Longest ns'],
          rows: results.map(({ name, call, medianNs, p99Ns, worstNs }) => [
            name,
            call ?? '-',
            formatInteger(medianNs),
            formatInteger(p99Ns),
            formatInteger(worstNs ?? null),
          ]),
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
                    style: 0,
                    value: medianNs,
                    low: medianNs,
                    high: p99Ns,
                    target: null,
                    text: formatInteger(medianNs),
                  },
                ],
              })),
            },
          ],
        }),
      ],
    },
  ];
}
