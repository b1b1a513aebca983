import { isLimitExact } from '../../limits/limit-fault.ts';
import type { LimitResult } from '../../result/limit-result.ts';
import { formatDecimals, formatInteger } from '../numbers.ts';
import { type ReportSection, removeEmptyColumns } from '../section.ts';

export function limitsSection(limits: readonly LimitResult[]): ReportSection[] {
  if (limits.length === 0) return [];
  const table = removeEmptyColumns({
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
      formatInteger(limit.connections),
      formatInteger(limit.attempted),
      formatInteger(limit.expected),
      formatInteger(limit.admitted),
      isLimitExact(limit) ? { text: 'yes', mark: 'good' as const } : { text: 'no', mark: 'bad' as const },
      formatInteger(limit.refused),
      formatInteger(limit.other),
      formatDecimals(limit.refusalCpuMicros, 1),
      formatDecimals(limit.admittedCpuMicros, 1),
      `${limit.clientSaturated ? 'at least ' : ''}${formatInteger(limit.refusalsPerSecond)}`,
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
