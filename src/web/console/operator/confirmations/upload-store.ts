import { useEffect, useState } from 'preact/hooks';
import { callApi } from '../../common/api-client.ts';
import { type BatchAnswer, ConfirmationUpload, type RowOutcome, type UploadProgress } from './confirmation-upload.ts';
import type { FileFormat } from './file-rows.ts';

/** An upload and the name of its file. */
interface NamedUpload {
  readonly name: string;
  readonly upload: ConfirmationUpload;
}

// The upload is outside of the page, so that it goes on while the operator looks at other pages or logs in again.
let current: NamedUpload | null = null;
const listeners = new Set<() => void>();

function notify(): void {
  for (const listener of listeners) listener();
}

function warnBeforeLeaving(event: Event): void {
  if (isUnfinished(current?.upload.progress.phase)) event.preventDefault();
}

function isUnfinished(phase: UploadProgress['phase'] | undefined): boolean {
  return phase === 'sending' || phase === 'stopped' || phase === 'paused';
}

/** Starts the upload of a file, which replaces a finished upload. */
export function startUpload(file: File, format: FileFormat): void {
  const wait = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
  const upload = new ConfirmationUpload({ format, file, send: sendBatch, onProgress: notify, wait });
  current = { name: file.name, upload };
  addEventListener('beforeunload', warnBeforeLeaving);
  void upload.run().finally(() => removeEventListener('beforeunload', warnBeforeLeaving));
  notify();
}

/** Forgets the current upload, so that the page shows the form again. */
export function closeUpload(): void {
  current = null;
  notify();
}

/** Returns the current upload with its progress, or null. The component renders again when it changes. */
export function useUpload(): (NamedUpload & { readonly progress: UploadProgress }) | null {
  const [, setVersion] = useState(0);
  useEffect(() => {
    const update = () => setVersion((version) => version + 1);
    listeners.add(update);
    return () => void listeners.delete(update);
  }, []);
  return current === null ? null : { ...current, progress: current.upload.progress };
}

async function sendBatch(json: string): Promise<BatchAnswer> {
  const result = await callApi<{ readonly results: readonly RowOutcome[] }>('confirmations', {
    method: 'POST',
    json,
    members: ['results'],
  });
  if (result.ok) return { kind: 'outcomes', outcomes: result.value.results };
  const { failure } = result;
  switch (failure.kind) {
    case 'offline':
      return { kind: 'problem', isTemporary: true, problem: 'The server cannot be reached. It may be restarting.' };
    case 'expired':
      return { kind: 'problem', isTemporary: false, problem: 'Your login has ended. Log in again, then continue.' };
    case 'unexpected':
      return {
        kind: 'problem',
        isTemporary: false,
        problem:
          'This page does not understand the answer of the server, which may be newer. Reload the page and send the file again.',
      };
    default: {
      const isTemporary = failure.status === 503 || failure.status === 429;
      return { kind: 'problem', isTemporary, problem: `The server refused the rows: ${failure.message}` };
    }
  }
}
