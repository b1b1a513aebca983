import type { MemoryResult } from '../../result/curve-result.ts';
import { formatInteger } from '../numbers.ts';
import type { ReportSection } from '../section.ts';

export function memorySection(memory: MemoryResult | null): ReportSection[] {
  if (memory === null) return [];
  const { fields, heapBytes, residentBytes, points, sessionsMax } = memory;
  return [
    {
      id: 'memory',
      title: 'Memory of live sessions',
      text: [
        `A live session with ${fields} fields takes ${formatInteger(residentBytes)} bytes of resident memory, ${formatInteger(Math.max(0, heapBytes))} of them on the JavaScript heap.`,
        `The most live sessions this machine holds is ${formatInteger(sessionsMax)} (\`SVC_MAX_SESSIONS\`, as the service sets it itself); a new one beyond gets 503.`,
      ],
      tables: [
        {
          caption: 'Memory by live sessions',
          head: ['Live sessions', 'Heap MiB', 'Resident MiB'],
          rows: points.map(({ sessions, heapUsedMiB, rssMiB }) => [formatInteger(sessions), formatInteger(heapUsedMiB), formatInteger(rssMiB)]),
          plots: [
            {
              kind: 'lines',
              title: 'Memory by live sessions',
              x: { label: 'live sessions', logarithmic: false, values: points.map(({ sessions }) => sessions) },
              y: { label: 'MiB', logarithmic: false },
              lines: [
                { label: 'heap', style: 0, values: points.map(({ heapUsedMiB }) => heapUsedMiB) },
                { label: 'resident', style: 1, values: points.map(({ rssMiB }) => rssMiB) },
              ],
            },
          ],
        },
      ],
    },
  ];
}
