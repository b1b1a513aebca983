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

/** Plot of the revenue that an offer booked today, and of the target of even pacing by the end of each hour. */
export function SpendCurve({ name, budget }: { readonly name: string; readonly budget: OfferBudget }) {
  const { spent_by_hour_usd: byHour, even_pacing: pacing, day } = budget;
  const hours = Array.from({ length: 24 }, (_, hour) => hour + 1);
  const lines = [];
  if (byHour !== null) {
    const shown = countHours(byHour);
    const spent = accumulate(byHour).map((amount, hour) => (hour < shown ? amount : null));
    lines.push({ label: 'Booked', values: spent });
  }
  if (pacing !== null) lines.push({ label: 'Target of even pacing', values: pacing.target_by_hour_usd });
  if (day !== null) lines.push({ label: 'Budget of the day', values: hours.map(() => day.limit_usd) });
  return (
    <section class="card section" aria-label={`Spend curve of ${name}`}>
      {pacing?.hidden_until && (
        <Notice kind="warn" title={`Pacing hides this offer until ${formatUtcTime(pacing.hidden_until)}`}>
          <p>
            Clicks on the offer booked {formatUsd(budget.spent_today_usd)} today. The target of even pacing by now is{' '}
            {formatUsd(pacing.target_usd)} of the day’s budget of {formatUsd(pacing.day_budget_usd)}.
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
