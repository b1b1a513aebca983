import { useEffect, useState } from 'preact/hooks';
import { type ApiFailure, callApi } from '../../common/api-client.ts';
import type { ExperimentPlanResponse } from '../../common/api-types.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import {
  formatCount,
  formatDay,
  formatDecimal,
  formatPercent,
  formatUsdPerUnit,
  formatUtcDay,
} from '../../common/format.ts';
import { inputPauseMs } from '../../common/limits.ts';
import { type PartnerLogin, useLogin } from '../../common/login.ts';
import { FailureNotice, Notice } from '../../common/states.tsx';
import { type ExperimentForm, findNumberErrors, toPlanRequest } from '../experiment-form.ts';
import { partnerPath } from '../partner-path.ts';

/** Answer to the plan of a form. `isCurrent` is false while a changed form is being planned. */
export interface Planned {
  readonly plan: ExperimentPlanResponse | null;
  readonly failure: ApiFailure | null;
  readonly isCurrent: boolean;
}

/** Requests the plan of the form when the user pauses. Nothing is stored. */
export function usePlan(form: ExperimentForm, basedOn: string): Planned {
  const login = useLogin<PartnerLogin>();
  const request =
    basedOn === '' || Object.keys(findNumberErrors(form)).length > 0 ? null : toPlanRequest(form, basedOn);
  const key = JSON.stringify(request);
  const [answer, setAnswer] = useState<Omit<Planned, 'isCurrent'> & { readonly key: string }>({
    key: '',
    plan: null,
    failure: null,
  });
  useEffect(() => {
    if (request === null) return;
    const ended = new AbortController();
    const timer = setTimeout(async () => {
      const path = partnerPath(login, ['experiments', request.name, 'plan']);
      const sent = {
        method: 'POST',
        body: request.body,
        signal: ended.signal,
        members: ['basis', 'arms', 'outlook'],
      } as const;
      const result = await callApi<ExperimentPlanResponse>(path, sent);
      if (ended.signal.aborted) return;
      setAnswer(result.ok ? { key, plan: result.value, failure: null } : { key, plan: null, failure: result.failure });
    }, inputPauseMs);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
    // `key` stands for the request, which is a new object in each rendering.
  }, [key]);
  return { plan: answer.plan, failure: answer.failure, isCurrent: request === null || answer.key === key };
}

/** What the experiment of the form will be able to find, and when. */
export function PlanPanel({ planned, form }: { readonly planned: Planned; readonly form: ExperimentForm }) {
  const { plan, failure, isCurrent } = planned;
  return (
    <section class="card section plan" aria-label="What it will find">
      <h2>What it will find {!isCurrent && <span class="soft">updating…</span>}</h2>
      <div aria-live="polite" aria-busy={!isCurrent} class="section">
        {failure !== null && failure.kind === 'refused' && failure.status === 400 && (
          <Notice kind="info" title="The estimate needs valid values">
            <p class="api-sentence">{failure.message}</p>
          </Notice>
        )}
        {failure !== null && !(failure.kind === 'refused' && failure.status === 400) && (
          <FailureNotice failure={failure} />
        )}
        {plan === null && failure === null && <p class="soft">The estimate appears when the values are complete.</p>}
        {plan !== null && <Plan plan={plan} form={form} />}
      </div>
    </section>
  );
}

type ArmPlan = ExperimentPlanResponse['arms'][number];

function Plan({ plan, form }: { readonly plan: ExperimentPlanResponse; readonly form: ExperimentForm }) {
  const { basis, arms, outlook, planned_day: plannedDay, first_comparison_on: firstComparison, retrospective } = plan;
  const isKnown = outlook.length > 0;
  const labelOf = (tag: string, index: number) => form.arms[index + 1]?.label.trim() || tag;
  return (
    <>
      {retrospective && (
        <Notice kind="warn" title="For ideas, not for decisions">
          <p>
            The first day is in the past, so the experiment shows figures and decides nothing. Start today or later.
          </p>
        </Notice>
      )}
      {!isKnown ? (
        <Notice kind="info" title="No estimate yet">
          <p>
            {basis.referrer_tag} has {formatCount(basis.sessions_with_revenue)} of the 25 matured sessions with revenue
            that an estimate needs, and {formatDecimal(basis.sessions_per_day)} sessions per day. Choose another page to
            estimate from, or enter the sessions per day.
          </p>
        </Notice>
      ) : (
        <ul class="plan-arms">
          {arms.map((arm, index) => (
            <li key={arm.arm}>
              {arms.length > 1 && <strong>{labelOf(arm.arm, index)}: </strong>}
              <ArmSentence arm={arm} plan={plan} form={form} />
            </li>
          ))}
        </ul>
      )}
      <dl class="figures">
        <div>
          <dt>First comparison</dt>
          <dd>
            {firstComparison === null ? describeMissingComparison(isKnown, plannedDay) : formatUtcDay(firstComparison)}
          </dd>
        </div>
        <div>
          <dt>Planned day</dt>
          <dd>{plannedDay === null ? 'none, without a last day' : formatUtcDay(plannedDay)}</dd>
        </div>
      </dl>
      {isKnown && (
        <p class="soft">
          Estimated from <strong>{basis.referrer_tag}</strong>: {formatCount(basis.sessions)} matured sessions,{' '}
          {formatCount(basis.sessions_with_revenue)} with revenue, {formatUsdPerUnit(basis.rev_per_session)} per
          session, {formatDecimal(basis.sessions_per_day)} sessions per day for all pages together. “Likely” means in 80
          of 100 experiments.
        </p>
      )}
      {isKnown && (
        <DataTable
          caption="Other last days"
          columns={outlookColumns}
          rows={outlook}
          rowKey={({ days }) => String(days)}
          csvName="plan"
        />
      )}
    </>
  );
}

function describeMissingComparison(isKnown: boolean, plannedDay: string | null): string {
  if (!isKnown) return 'unknown';
  return plannedDay === null ? 'not within two years' : 'not by the planned day';
}

/** Says by when the experiment is likely to find which difference. */
function ArmSentence({
  arm: { units_per_arm: units, found_on: foundOn, smallest_effect_percent: smallest },
  plan: { planned_day: plannedDay },
  form: { minEffectPercent, unit },
}: {
  readonly arm: ArmPlan;
  readonly plan: ExperimentPlanResponse;
  readonly form: ExperimentForm;
}) {
  const minEffect = minEffectPercent.trim() === '' ? null : Number(minEffectPercent.replace(',', '.'));
  return (
    <>
      {smallest !== null && (
        <>
          By {formatUtcDay(plannedDay)}, the experiment will likely find a difference of{' '}
          <strong>{formatPercent(smallest)} or more</strong>.{' '}
        </>
      )}
      {minEffect !== null &&
        units !== null &&
        (foundOn === null ? (
          <>
            A difference of {formatPercent(minEffect)} needs {formatCount(units)} {unit}s of this page, and is{' '}
            <strong>not likely to be found</strong>
            {plannedDay === null ? ' within two years' : ' by the planned day'}.
          </>
        ) : (
          <>
            A difference of {formatPercent(minEffect)} is likely to be found by <strong>{formatUtcDay(foundOn)}</strong>{' '}
            (it needs {formatCount(units)} {unit}s of this page).
          </>
        ))}
      {smallest === null && minEffect === null && (
        <>
          Without a last day and a smallest difference, nothing can be estimated. The table shows what each last day
          finds.
        </>
      )}
    </>
  );
}

type Outlook = ExperimentPlanResponse['outlook'][number];

const outlookColumns: readonly Column<Outlook>[] = [
  { header: 'Days of sessions', csvName: 'days', cell: ({ days }) => formatCount(days), value: ({ days }) => days },
  { header: 'Last day (UTC)', csvName: 'ends_on', cell: (row) => formatDay(row.ends_on), value: (row) => row.ends_on },
  {
    header: 'Planned day (UTC)',
    csvName: 'planned_day',
    cell: (row) => formatDay(row.planned_day),
    value: (row) => row.planned_day,
  },
  {
    header: 'Smallest difference',
    csvName: 'smallest_effect_percent',
    isNumber: true,
    cell: (row) => formatPercent(row.smallest_effect_percent),
    value: (row) => row.smallest_effect_percent,
  },
];
