import { useState } from 'preact/hooks';
import { type ApiFailure, callApi } from '../../common/api-client.ts';
import type { ExperimentResponse } from '../../common/api-types.ts';
import { formatUtcTime } from '../../common/format.ts';
import { type PartnerLogin, useLogin } from '../../common/login.ts';
import { FailureNotice, Notice } from '../../common/states.tsx';
import { outcomeWords } from '../experiment-words.ts';
import { closingNoteCharactersMax } from '../limits.ts';
import { partnerPath } from '../partner-path.ts';
import { armName, armNames } from './words.tsx';

type Outcome = keyof typeof outcomeWords;

/** The closing of an experiment, or the form that closes it. A read-only key gets neither form nor button. */
export function ClosingSection({
  definition,
  onClosed,
}: {
  readonly definition: ExperimentResponse;
  readonly onClosed: () => void;
}) {
  const { scope } = useLogin<PartnerLogin>();
  const { closing, arms } = definition;
  if (closing === null && scope !== 'full') return null;
  return (
    <section class="card section">
      <h2>{closing === null ? 'Close the experiment' : 'Closed'}</h2>
      {closing === null ? (
        <ClosingForm definition={definition} onClosed={onClosed} />
      ) : (
        <dl class="figures">
          <div>
            <dt>Outcome</dt>
            <dd>{outcomeWords[closing.outcome]?.text ?? closing.outcome}</dd>
          </div>
          {closing.arm !== null && (
            <div>
              <dt>Arm</dt>
              <dd>{armNames(arms)(closing.arm)}</dd>
            </div>
          )}
          <div>
            <dt>Closed</dt>
            <dd>{formatUtcTime(closing.closed_at)}</dd>
          </div>
          {closing.note !== null && (
            <div>
              <dt>Note</dt>
              <dd>{closing.note}</dd>
            </div>
          )}
        </dl>
      )}
    </section>
  );
}

function ClosingForm({
  definition,
  onClosed,
}: {
  readonly definition: ExperimentResponse;
  readonly onClosed: () => void;
}) {
  const login = useLogin<PartnerLogin>();
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [arm, setArm] = useState('');
  const [note, setNote] = useState('');
  const [isConfirming, setConfirming] = useState(false);
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const needsArm = outcome === 'ship';
  const canConfirm = outcome !== null && (!needsArm || arm !== '');
  const close = async () => {
    if (isSending) return;
    setSending(true);
    const path = partnerPath(login, ['experiments', definition.name, 'close']);
    const result = await callApi(path, {
      method: 'POST',
      body: { outcome, arm: needsArm ? arm : null, note: note.trim() || null },
    });
    setSending(false);
    if (result.ok) onClosed();
    else setFailure(result.failure);
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (canConfirm) setConfirming(true);
      }}
    >
      <p>
        Closing stores your decision with the results of this moment. A closed experiment counts no new sessions and
        cannot be opened again.
      </p>
      <fieldset class="field">
        <legend>Your decision</legend>
        {Object.entries(outcomeWords).map(([value, { text }]) => (
          <label key={value} class="choice">
            <input
              type="radio"
              name="outcome"
              value={value}
              checked={outcome === value}
              onChange={() => {
                setOutcome(value as Outcome);
                setConfirming(false);
              }}
            />
            {text}
          </label>
        ))}
      </fieldset>
      {needsArm && (
        <div class="field">
          <label for="closing-arm">Arm to ship</label>
          <select id="closing-arm" value={arm} onChange={({ currentTarget }) => setArm(currentTarget.value)}>
            <option value="">Choose an arm</option>
            {definition.arms.map((each) => (
              <option key={each.referrer_tag} value={each.referrer_tag}>
                {armName(each)}
              </option>
            ))}
          </select>
        </div>
      )}
      <div class="field">
        <label for="closing-note">Note (optional)</label>
        <textarea
          id="closing-note"
          rows={2}
          maxLength={closingNoteCharactersMax}
          value={note}
          onInput={({ currentTarget }) => setNote(currentTarget.value)}
        />
      </div>
      {failure !== null && <FailureNotice failure={failure} />}
      {isConfirming && canConfirm ? (
        <Notice kind="warn" title={`Close ${definition.name}: ${outcomeWords[outcome].text}?`}>
          <p>This cannot be undone.</p>
          <div class="actions">
            <button type="button" class="danger" onClick={() => void close()}>
              {isSending ? 'Closing…' : 'Close now'}
            </button>
            <button type="button" class="quiet" onClick={() => setConfirming(false)}>
              Cancel
            </button>
          </div>
        </Notice>
      ) : (
        <div>
          <button type="submit" aria-disabled={!canConfirm}>
            Close the experiment…
          </button>
        </div>
      )}
    </form>
  );
}
