import type { BenchResult } from '../../result/bench-result.ts';
import type { ReportSection } from '../section.ts';
import { crossoverSection } from './crossover-section.ts';
import { curvesSection } from './curves-section.ts';
import { historySection } from './history-section.ts';
import { limitsSection } from './limits-section.ts';
import { memorySection } from './memory-section.ts';
import { microSection } from './micro-section.ts';
import { routesSection } from './routes-section.ts';

/** The chapters of the report: one for each part that was run. */
export function reportSections(result: BenchResult): ReportSection[] {
  return [
    ...routesSection(result.routes),
    ...limitsSection(result.limits),
    ...curvesSection(result.curves),
    ...memorySection(result.memory),
    ...microSection(result.micro),
    ...crossoverSection(result.crossover),
    ...historySection(result.history),
  ];
}
