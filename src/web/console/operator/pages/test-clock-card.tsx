import { useState } from 'preact/hooks';
import { type ApiFailure, callApi } from '../../common/api-client.ts';
import { formatCount, formatUtcTime } from '../../common/format.ts';
import { FailureNotice, Notice } from '../../common/states.tsx';
import type { TestClock } from '../api-types.ts';
import { limits } from '../limits.ts';
import { Field, isFieldFailure } from '../parts/field.tsx';

/** Says that the time of the service is not real, and advances the test clock. */
export function TestClockCard({ clock, onAdvanced }: { readonly clock: TestClock; readonly onAdvanced: () => void }) {
  const [days, setDays] = useState('1');
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isSending, setSending] = useState(false);
  const [advanced, setAdvanced] = useState<TestClock | null>(null);
  const advance = async (event: Event) => {
    event.preventDefault();
    if (isSending) return;
    setSending(true);
    const body = { advance_days: Number(days) };
    const result = await callApi<TestClock>('test-clock', { method: 'POST', body, members: ['now'] });
    setSending(false);
    setFailure(result.ok ? null : result.failure);
    setAdvanced(result.ok ? result.value : null);
    onAdvanced();
  };
  return (
    <Notice kind="warn" title="A test clock is in use">
      <p>
        The figures of this service are not real. The test clock shows {formatUtcTime(clock.now)},{' '}
        {formatCount(clock.advanced_days)} {clock.advanced_days === 1 ? 'day' : 'days'} ahead of the clock of the
        machine. The test clock cannot go back. Advancing it ends the logins of both consoles, because a login lasts
        eight hours.
      </p>
      <form class="inline-form" onSubmit={(event) => void advance(event)} noValidate>
        <Field name="advance_days" label="Days to advance (1 to 92)" failure={failure}>
          {(attributes) => (
            <input
              {...attributes}
              type="number"
              min={1}
              max={limits.advanceDaysMax}
              value={days}
              onInput={({ currentTarget }) => setDays(currentTarget.value)}
            />
          )}
        </Field>
        <button type="submit">{isSending ? 'Advancing…' : 'Advance the test clock'}</button>
      </form>
      {failure !== null && !isFieldFailure(failure, ['advance_days']) && (
        <>
          <FailureNotice failure={failure} />
          <p>The clock may have moved. Compare the days above before you advance it again.</p>
        </>
      )}
      <p role="status">{advanced !== null && `The test clock shows ${formatUtcTime(advanced.now)}.`}</p>
    </Notice>
  );
}
