import { useEffect, useState } from 'preact/hooks';
import { type ApiFailure, callApi } from '../../common/api-client.ts';
import type { ExperimentPlanResponse, ExperimentResponse, TagsResponse } from '../../common/api-types.ts';
import { formatShare, formatUtcDay, unitSpace } from '../../common/format.ts';
import { type PartnerLogin, useLogin } from '../../common/login.ts';
import { formatRoute, type Route } from '../../common/route.ts';
import { PageHeading } from '../../common/shell.tsx';
import { FailureNotice, Notice, WhenLoaded } from '../../common/states.tsx';
import { findBusiestTag } from '../day-filter.ts';
import {
  createForm,
  type ExperimentForm,
  type FormErrors,
  findFieldOfParam,
  findFormErrors,
  nameTakenError,
  toDefinition,
  toPlanRequest,
} from '../experiment-form.ts';
import { partnerPath } from '../partner-path.ts';
import { useTags } from '../session-filter.tsx';
import { ExperimentCodePage } from './experiment-code-page.tsx';
import { AssignmentFields, PageFields, RuleFields } from './experiment-fields.tsx';
import { type Planned, PlanPanel, usePlan } from './plan-panel.tsx';

/** The form, which stays when the user looks at another page of the console. A reload of the browser page clears it. */
let draft: ExperimentForm | null = null;

const previewStep = 'preview';

/** Page that defines an experiment: a form with an estimate, a preview, and the code that the partner's page needs. */
export function NewExperimentPage({ route }: { readonly route: Route }) {
  const login = useLogin<PartnerLogin>();
  const tags = useTags();
  const { created } = route.query;
  if (created !== undefined) return <ExperimentCodePage name={created} isNew />;
  return (
    <>
      <PageHeading
        title="New experiment"
        lead="An experiment compares the revenue per session of two or more pages. After the first session, only labels, the hypothesis and the dimensions can change."
      />
      {login.scope === 'analytics' ? (
        <Notice kind="info" title="This key is read-only">
          <p>Log in with a key that has the scope full to define an experiment.</p>
        </Notice>
      ) : (
        <WhenLoaded loaded={tags} what="tags">
          {(list) => <NewExperiment tags={list} isPreview={route.query.step === previewStep} />}
        </WhenLoaded>
      )}
    </>
  );
}

function NewExperiment({ tags, isPreview }: { readonly tags: TagsResponse; readonly isPreview: boolean }) {
  const login = useLogin<PartnerLogin>();
  const [form, setForm] = useState<ExperimentForm>(() => draft ?? createForm(login.now));
  const [errors, setErrors] = useState<FormErrors>({});
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isBusy, setBusy] = useState(false);
  const basedOn = form.basedOn || findBusiestTag(tags.data);
  const planned = usePlan(form, basedOn);
  useEffect(() => {
    draft = form;
  }, [form]);
  const showFailure = (found: ApiFailure) => {
    const field = found.kind === 'refused' ? findFieldOfParam(found.param) : null;
    if (field === null || found.kind !== 'refused') setFailure(found);
    else {
      setErrors({ [field]: found.message });
      location.hash = formatRoute(['new-experiment']);
    }
  };
  /** Runs a request, and shows its failure at the field that it is about. */
  const send = async <Value,>(request: Parameters<typeof callApi>[1], path: string): Promise<Value | null> => {
    setBusy(true);
    setFailure(null);
    setErrors({});
    const result = await callApi<Value>(path, request);
    setBusy(false);
    if (result.ok) return result.value;
    showFailure(result.failure);
    return null;
  };
  const preview = async () => {
    const found = findFormErrors(form);
    setErrors(found);
    if (Object.keys(found).length > 0) return;
    const { name, body } = toPlanRequest(form, basedOn);
    const request = { method: 'POST', body, members: ['exists'] } as const;
    const plan = await send<ExperimentPlanResponse>(request, partnerPath(login, ['experiments', name, 'plan']));
    if (plan === null) return;
    if (plan.exists) setErrors(nameTakenError(name));
    else location.hash = formatRoute(['new-experiment'], { step: previewStep });
  };
  const create = async () => {
    const name = form.name.trim();
    const request = { method: 'PUT', body: toDefinition(form), members: ['name'] } as const;
    const experiment = await send<ExperimentResponse>(request, partnerPath(login, ['experiments', name]));
    if (experiment === null) return;
    draft = null;
    location.hash = formatRoute(['new-experiment'], { created: experiment.name });
  };
  useFocusOnError(errors);
  const isShown = isPreview && Object.keys(findFormErrors(form)).length === 0;
  return (
    <>
      {failure !== null && <FailureNotice failure={failure} />}
      {isShown ? (
        <Preview form={form} planned={planned} isBusy={isBusy} onCreate={() => void create()} />
      ) : (
        <form
          class="with-aside"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            if (!isBusy) void preview();
          }}
        >
          <div class="section">
            <PageFields form={form} errors={errors} onChange={setForm} />
            <AssignmentFields form={form} errors={errors} onChange={setForm} />
            <RuleFields form={form} errors={errors} onChange={setForm} basedOn={basedOn} tags={tags} />
            <div class="actions">
              <button type="submit">Preview</button>
              <span class="soft">Nothing is stored before you create the experiment.</span>
            </div>
          </div>
          <PlanPanel planned={planned} form={form} />
        </form>
      )}
    </>
  );
}

/** Moves the focus to the first input with an error. */
function useFocusOnError(errors: FormErrors): void {
  useEffect(() => {
    if (Object.keys(errors).length === 0) return;
    const marked = document.querySelector<HTMLElement>('[aria-invalid="true"]');
    const first = marked ?? document.querySelector('.field-error:not(:empty)')?.parentElement?.querySelector('input');
    first?.focus();
  }, [errors]);
}

/** The whole definition in words, before it is stored. */
function Preview({
  form,
  planned,
  isBusy,
  onCreate,
}: {
  readonly form: ExperimentForm;
  readonly planned: Planned;
  readonly isBusy: boolean;
  readonly onCreate: () => void;
}) {
  const definition = toDefinition(form);
  const control = definition.arms[0]!;
  const rows: readonly (readonly [label: string, text: string])[] = [
    ['Name', form.name.trim()],
    ...definition.arms.map(
      ({ referrer_tag: tag, weight, label }, index) =>
        [
          index === 0 ? 'Page 1, control' : `Page ${index + 1}`,
          `${label == null ? tag : `${label} (${tag})`}, ${formatShare(weight)}`,
        ] as const,
    ),
    ['Assigned to a page', definition.unit === 'visitor' ? 'each visitor' : 'each session'],
    ['Assigned by', definition.assignment === 'hash' ? 'the service, by a hash' : 'your own rule'],
    ['Days of sessions', describeDays(definition)],
    [
      'Smallest difference',
      definition.min_effect_percent == null ? 'none' : `${definition.min_effect_percent}${unitSpace}%`,
    ],
    ['Cap', definition.cap_usd == null ? 'none' : `${definition.cap_usd}${unitSpace}USD of a session`],
    ['Dimensions', definition.dimensions?.join(', ') || 'none'],
    ['Hypothesis', definition.hypothesis ?? 'none'],
  ];
  return (
    <div class="with-aside">
      <section class="card section">
        <h2>Preview</h2>
        <p>
          This experiment compares the revenue per session of {definition.arms.length - 1} other{' '}
          {definition.arms.length === 2 ? 'page' : 'pages'} with that of {control.label ?? control.referrer_tag}.
        </p>
        <dl class="definition">
          {rows.map(([label, text]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
        <div class="actions">
          <button type="button" aria-disabled={isBusy} onClick={() => !isBusy && onCreate()}>
            Create the experiment
          </button>
          <button type="button" class="quiet" onClick={() => history.back()}>
            Change the experiment
          </button>
        </div>
      </section>
      <PlanPanel planned={planned} form={form} />
    </div>
  );
}

function describeDays({ starts_on: from, ends_on: to }: ReturnType<typeof toDefinition>): string {
  return to == null ? `from ${formatUtcDay(from)} on` : `${formatUtcDay(from)} to ${formatUtcDay(to)}`;
}
