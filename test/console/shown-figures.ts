import {
  formatCount,
  formatDay,
  formatDecimal,
  formatPercent,
  formatPValue,
  formatRatio,
  formatShare,
  formatTime,
  formatUsd,
  formatUsdPerUnit,
} from '../../src/web/console/common/format.ts';

const formats = [
  formatCount,
  formatUsd,
  formatUsdPerUnit,
  formatShare,
  formatPercent,
  formatRatio,
  formatDecimal,
  formatPValue,
  String,
];
const numberPattern = /\d+(?:,\d{3})*(?:\.\d+)?/g;
/** Last characters of session ids, which the pages show instead of the whole id. */
const idPattern = /…[0-9a-f]{8}/g;
const dayPattern = /\d{1,2}\s(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s\d{4}(?:, \d{2}:\d{2})?/g;

/** Numbers that stand in the texts of the pages, and not in figures. */
const numbersOfTexts = ['1', '2', '3', '7', '10', '28', '30', '45', '50', '80', '90', '95', '99', '100'];

interface Known {
  readonly numbers: Set<string>;
  readonly days: Set<string>;
}

function addFormats(value: number, { numbers }: Known): void {
  for (const format of formats) for (const [text] of format(value).matchAll(numberPattern)) numbers.add(text);
}

/** Adds what a page may show of an answer of the API: numbers in every format, days, and numbers in sentences and names. */
function addAnswer(value: unknown, known: Known): void {
  if (typeof value === 'number') addFormats(value, known);
  else if (typeof value === 'string') {
    known.days.add(formatDay(value));
    known.days.add(formatTime(value));
    for (const [text] of value.matchAll(numberPattern)) known.numbers.add(text);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      addAnswer(name, known);
      addAnswer(member, known);
    }
  }
}

/** Members of results from which the page of an experiment computes figures. */
interface ResultsAnswer {
  readonly arms?: readonly { readonly units?: number; readonly funnel?: Readonly<Record<string, number>> }[];
  readonly as_of?: string;
  readonly planned_day?: string | null;
}

/** Adds what the page of an experiment computes: shares of the units and of the steps of the funnel, and days to the planned day. */
function addComputed(answer: unknown, known: Known): void {
  const { arms = [], as_of: asOf, planned_day: plannedDay } = answer as ResultsAnswer;
  const total = arms.reduce((sum, { units = 0 }) => sum + units, 0);
  for (const { units = 0, funnel } of arms) {
    if (total > 0) addFormats(units / total, known);
    for (const step of Object.values(funnel ?? {})) addFormats(step / (funnel!.units || 1), known);
  }
  if (asOf !== undefined && plannedDay) addFormats((Date.parse(plannedDay) - Date.parse(asOf)) / 86_400_000, known);
}

/** Characters before and after an unknown number in the result. */
const contextLength = 30;

/** Returns the days, and the numbers with the text around them, of the visible text of a page that are in none of the answers of the API. */
export function findUnknownFigures(text: string, answers: readonly unknown[]): string[] {
  const known: Known = { numbers: new Set(numbersOfTexts), days: new Set() };
  for (const answer of answers) {
    addAnswer(answer, known);
    addComputed(answer, known);
  }
  const days = [...text.matchAll(dayPattern)].map(([day]) => day).filter((day) => !known.days.has(day));
  const withoutDays = text.replaceAll(dayPattern, '').replaceAll(idPattern, '');
  const numbers = [...withoutDays.matchAll(numberPattern)]
    .filter(([number]) => !known.numbers.has(number))
    .map(({ index }) => withoutDays.slice(Math.max(0, index - contextLength), index + contextLength));
  return [...days, ...numbers];
}
