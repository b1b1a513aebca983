import type { ComponentChildren } from 'preact';
import { describeRejection } from '../../../../confirmations/rejection-reasons.ts';
import { DataTable } from '../../common/data-table.tsx';
import { formatCount, formatShare } from '../../common/format.ts';
import { downloadFile } from '../../common/save.ts';
import { Notice } from '../../common/states.tsx';
import type { ConfirmationUpload, UploadProgress } from '../confirmations/confirmation-upload.ts';
import { closeUpload } from '../confirmations/upload-store.ts';
import { limits } from '../limits.ts';

interface UploadCardProps {
  readonly name: string;
  readonly upload: ConfirmationUpload;
  readonly progress: UploadProgress;
}

/** Progress and outcome of the upload of a file. */
export function UploadCard({ name, upload, progress }: UploadCardProps) {
  const { phase, share } = progress;
  const isFinished = phase === 'done' || phase === 'failed';
  return (
    <section class="card section" aria-labelledby="upload-title">
      <h2 id="upload-title">{isFinished ? name : `Sending ${name}`}</h2>
      <UploadNotice upload={upload} progress={progress} />
      {!isFinished && (
        <div class="upload-progress">
          <progress value={share} max={1} aria-labelledby="upload-title" />
          <span>{formatShare(share)}</span>
        </div>
      )}
      <UploadFigures progress={progress} />
      <div class="actions">
        {phase === 'sending' && (
          <button type="button" class="quiet" onClick={() => upload.stop()}>
            Stop
          </button>
        )}
        {isFinished && (
          <button type="button" class="quiet" onClick={closeUpload}>
            Send another file
          </button>
        )}
        {(phase === 'stopped' || phase === 'paused') && (
          <button type="button" class="danger" onClick={closeUpload}>
            Cancel the upload
          </button>
        )}
      </div>
      {progress.rejected > 0 && <RejectedRows name={name} progress={progress} />}
    </section>
  );
}

function UploadNotice({ upload, progress }: Omit<UploadCardProps, 'name'>) {
  const { phase, problem, rejected, rows } = progress;
  const resume = (
    <button type="button" onClick={() => upload.resume()}>
      Continue
    </button>
  );
  switch (phase) {
    case 'sending':
      return null;
    case 'stopped':
      return (
        <Notice kind="info" title="You stopped the upload">
          <p>Rows that were sent stay booked.</p>
          {resume}
        </Notice>
      );
    case 'paused':
      return (
        <Notice kind="warn" title="The upload is paused">
          <p>{problem}</p>
          <p>“Continue” sends the last rows again. Rows that were booked are not booked twice.</p>
          {resume}
        </Notice>
      );
    case 'failed':
      return (
        <Notice kind="bad" title="The file cannot be read further">
          <p class="api-sentence">{problem}</p>
          <p>Correct the file and send all of it again. Rows that were booked are not booked twice.</p>
        </Notice>
      );
    default:
      if (rows === 0) return <Notice kind="warn" title="The file has no rows" />;
      return rejected === 0 ? (
        <Notice kind="good" title="Every row is booked" />
      ) : (
        <Notice kind="warn" title={`${formatCount(rejected)} of ${formatCount(rows)} rows were rejected`}>
          <p>
            {rejected === rows ? 'No row is booked.' : 'All other rows are booked.'} Correct the rejected rows, and send
            only them.
          </p>
        </Notice>
      );
  }
}

function UploadFigures({ progress }: { readonly progress: UploadProgress }) {
  const { rows, accepted, repeated, reversedPayouts, rejected } = progress;
  const figures: readonly (readonly [label: string, value: ComponentChildren])[] = [
    ['Rows read', formatCount(rows)],
    ['Booked now', formatCount(accepted)],
    ['Booked before', formatCount(repeated)],
    ['Rejected', formatCount(rejected)],
  ];
  return (
    <>
      <dl class="figures" aria-live="polite">
        {figures.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {reversedPayouts > 0 && (
        <p>
          {formatCount(reversedPayouts)} of the rows that were booked before are payouts that a lender took back, wholly
          or in part. They add no revenue.
        </p>
      )}
    </>
  );
}

function RejectedRows({ name, progress }: { readonly name: string; readonly progress: UploadProgress }) {
  const { rejected, rejectedRows, rejectedRowsHeader } = progress;
  const isCsv = rejectedRowsHeader !== '';
  const rejectedName = name.replace(/(\.[^.]+)$/, `.rejected${isCsv ? '.csv' : '.ndjson'}`);
  const download = () => {
    const lines = rejectedRows.map(({ line }) => line);
    downloadFile(rejectedName, new Blob([rejectedRowsHeader, ...lines], { type: isCsv ? 'text/csv' : 'text/plain' }));
  };
  const reasons = [...progress.rejectedByReason].sort(([, one], [, other]) => other - one);
  return (
    <>
      <DataTable
        caption="Reasons"
        rows={reasons}
        rowKey={([reason]) => reason}
        csvName="rejection-reasons"
        columns={[
          {
            header: 'Reason',
            csvName: 'reason',
            cell: ([reason]) => <code>{reason}</code>,
            value: ([reason]) => reason,
          },
          {
            header: 'Rows',
            csvName: 'rows',
            isNumber: true,
            cell: ([, rows]) => formatCount(rows),
            value: ([, rows]) => rows,
          },
          { header: 'What is wrong', cell: ([reason]) => describeRejection(reason) },
        ]}
      />
      <p>
        <button type="button" onClick={download}>
          Download {rejectedName}
        </button>
      </p>
      <DataTable
        caption="Rejected rows"
        rows={rejectedRows.slice(0, limits.rejectedRowsShownMax)}
        rowKey={({ place, line }) => `${place} ${line}`}
        csvName="rejected-rows"
        columns={[
          {
            header: isCsv ? 'Line' : 'Row',
            csvName: 'line',
            cell: ({ place }) => formatCount(place),
            value: ({ place }) => place,
          },
          {
            header: 'Reason',
            csvName: 'reason',
            cell: ({ reason }) => <code>{reason}</code>,
            value: ({ reason }) => reason,
          },
          { header: 'Text of the row', cell: ({ line }) => <span class="row-text">{line.trim()}</span> },
        ]}
        foot={
          rejected > limits.rejectedRowsShownMax && (
            <p class="soft">
              The first {formatCount(limits.rejectedRowsShownMax)} rejected rows.
              {rejected > rejectedRows.length &&
                ` The file of rejected rows contains the first ${formatCount(rejectedRows.length)}; use the command marketplace confirm for files with more.`}
            </p>
          )
        }
      />
    </>
  );
}
