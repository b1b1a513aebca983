import { isExact } from '../../limits/limit-fault.ts';
import type { LimitResult } from '../../result/limit-result.ts';
import { fixed, whole } from '../numbers.ts';
import { type ReportSection, withoutEmptyColumns } from '../section.ts';

export function limitsSection(limits: readonly LimitResult[]): ReportSection[] {
  if (limits.length === 0) return [];
  const table = withoutEmptyColumns({
    caption: 'Limits under more load than they let through',
    head: [
      'Limit',
      'Connections',
      'Attempted',
      'To be admitted',
      'Admitted',
      'Exact',
      'Refused',
      'Neither',
      'CPU us a refusal',
      'CPU us admitted',
      'Refusals/s',
    ],
    rows: limits.map((limit) => [
      limit.title,
      whole(limit.connections),
      whole(limit.attempted),
      whole(limit.expected),
      whole(limit.admitted),
      isExact(limit) ? { text: 'yes', mark: 'good' as const } : { text: 'no', mark: 'bad' as const },
      whole(limit.refused),
      whole(limit.other),
      fixed(limit.refusalCpuMicros, 1),
      fixed(limit.admittedCpuMicros, 1),
      `${limit.clientSaturated ? 'at least ' : ''}${whole(limit.refusalsPerSecond)}`,
    ]),
    plots: [],
  });
  return [
    {
      id: 'limits',
      title: 'Limits',
      text: ['Asked from many connections at once; exact is a limit that admits not one more and not one less.'],
      tables: [table],
    },
  ];
}
