import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import type { ApiFailure, ApiResult } from '../../common/api-client.ts';
import { FailureNotice } from '../../common/states.tsx';

/** Button for a change that cannot be undone. It asks for a confirmation in a dialog, which says what the change does. */
export function ConfirmButton({
  label,
  subject,
  title,
  question,
  keepLabel,
  act,
  onDone,
}: {
  readonly label: string;
  /** What is changed, for screen readers. */
  readonly subject: string;
  readonly title: string;
  readonly question: ComponentChildren;
  /** Label of the button that changes nothing. */
  readonly keepLabel: string;
  readonly act: () => Promise<ApiResult<unknown>>;
  readonly onDone: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isSending, setSending] = useState(false);
  const open = () => {
    setFailure(null);
    dialog.current?.showModal();
  };
  const confirm = async () => {
    if (isSending) return;
    setSending(true);
    const result = await act();
    setSending(false);
    if (!result.ok) return setFailure(result.failure);
    dialog.current?.close();
    onDone();
  };
  return (
    <>
      <button type="button" class="small danger" onClick={open}>
        {label}
        <span class="visually-hidden"> {subject}</span>
      </button>
      <dialog ref={dialog} class="card" aria-labelledby={titleId}>
        <h2 id={titleId}>{title}</h2>
        {question}
        {failure !== null && <FailureNotice failure={failure} />}
        <div class="actions">
          <button type="button" class="danger" onClick={() => void confirm()}>
            {isSending ? 'Working…' : label}
          </button>
          <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
            {keepLabel}
          </button>
        </div>
      </dialog>
    </>
  );
}
