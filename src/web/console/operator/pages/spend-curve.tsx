import { formatUsd, formatUtcTime } from '../../common/format.ts';
import { Plot } from '../../common/plot.tsx';
import { changeQuery } from '../../common/router.ts';
import { Notice } from '../../common/states.tsx';
import type { OfferBudget } from '../api-types.ts';

/** Returns the sums up to each item. */
function accumulate(amounts: readonly number[]): number[] {
  let sum = 0;
  return amounts.map((amount) => {
    sum += amount;
    return sum;
  });
}

/** Returns the number of hours with revenue, so that the curve ends there; at least one. */
function countHours(byHour: readonly number[]): number {
  return Math.max(1, byHour.findLastIndex((amount) => amount > 0) + 1);
}

/** Plot of what an offer has booked today, and of what even pacing allows by each hour. */
export function SpendCurve({ name, budget }: { readonly name: string; readonly budget: OfferBudget }) {
  const { spent_by_hour_usd: byHour, even_pacing: pacing, day } = budget;
  const hours = Array.from({ length: 24 }, (_, hour) => hour + 1);
  const lines = [];
  if (byHour !== null) {
    const shown = countHours(byHour);
    const spent = accumulate(byHour).map((amount, hour) => (hour < shown ? amount : null));
    lines.push({ label: 'Booked', values: spent });
  }
  if (pacing !== null) lines.push({ label: 'Usual by then', values: pacing.target_by_hour_usd });
  if (day !== null) lines.push({ label: 'Budget of the day', values: hours.map(() => day.limit_usd) });
  return (
    <section class="card section" aria-label={`Spend curve of ${name}`}>
      {pacing?.hidden_until && (
        <Notice kind="warn" title={`Pacing hides this offer until ${formatUtcTime(pacing.hidden_until)}`}>
          <p>
            It booked {formatUsd(budget.spent_today_usd)} today. By now, {formatUsd(pacing.target_usd)} of the day’s{' '}
            {formatUsd(pacing.day_budget_usd)} are usually booked.
          </p>
        </Notice>
      )}
      {byHour === null && <p>The revenue of each hour of this day is not known.</p>}
      <Plot
        title={`Revenue booked today by ${name}`}
        axis={{ kind: 'numbers', label: 'End of the hour (UTC)', numbers: hours }}
        lines={lines}
        format={formatUsd}
        fileName="spend-curve"
      />
      <p>
        <button type="button" class="small quiet" onClick={() => changeQuery({ offer: null })}>
          Close the spend curve
        </button>
      </p>
    </section>
  );
}
