import { useRef, useState } from 'preact/hooks';
import type { Route } from '../../common/route.ts';
import { PageHeading } from '../../common/shell.tsx';
import { findFileFormat } from '../confirmations/file-rows.ts';
import { startUpload, useUpload } from '../confirmations/upload-store.ts';
import { UploadCard } from './upload-card.tsx';
import { UploadHistory } from './upload-history.tsx';

/** Page with the upload of confirmations. */
export function ConfirmationsPage({ route }: { readonly route: Route }) {
  const upload = useUpload();
  const phase = upload?.progress.phase;
  return (
    <>
      <PageHeading title="Confirmations" lead="Lenders report which clicks they pay for. Submit their files here." />
      {upload === null ? <FileForm /> : <UploadCard {...upload} />}
      <UploadHistory key={phase} route={route} isSending={phase === 'sending'} />
    </>
  );
}

function FileForm() {
  const [problem, setProblem] = useState<string | null>(null);
  const [isOver, setOver] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const send = (file: File | undefined) => {
    const format = file === undefined ? null : findFileFormat(file.name);
    if (file !== undefined && format !== null) return startUpload(file, format);
    setProblem(
      file === undefined
        ? 'Choose a file first.'
        : `“${file.name}” is not a file of confirmations. Its name must end with .csv, .ndjson, .jsonl or .json.`,
    );
    field.current?.focus();
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    send(event.dataTransfer?.files[0]);
  };
  const onDragOver = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <form
      class={`card section drop ${isOver ? 'over' : ''}`}
      aria-labelledby="file-title"
      noValidate
      onDragOver={onDragOver}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
      onSubmit={(event) => {
        event.preventDefault();
        send(field.current?.files?.[0]);
      }}
    >
      <h2 id="file-title">Send a file</h2>
      <p class="soft" id="file-hint">
        CSV with the columns click_id, txid, status, amount and occurred_at, or JSON or NDJSON with these members.
        Amounts are in USD. Valid rows are booked even if others are rejected. Sending a file again changes nothing.
      </p>
      <div class="inline-form">
        <div class="field">
          <label for="confirmation-file">File of confirmations</label>
          <input
            id="confirmation-file"
            ref={field}
            type="file"
            accept=".csv,.ndjson,.jsonl,.json"
            aria-describedby={problem === null ? 'file-hint' : 'file-hint file-problem'}
            aria-invalid={problem !== null}
          />
        </div>
        <button type="submit">Send the file</button>
      </div>
      {problem !== null && (
        <p class="field-error" id="file-problem">
          {problem}
        </p>
      )}
    </form>
  );
}
