import { useEffect, useState } from 'preact/hooks';
import { copiedNoticeMs } from './limits.ts';

/** Button that copies something, and says for a moment whether it did. A browser that does not allow copying gets a file instead. */
export function CopyButton({
  label,
  subject,
  copy,
  download,
}: {
  /** Visible text, such as `Copy as CSV`. */
  readonly label: string;
  /** What is copied, for screen readers. */
  readonly subject: string;
  readonly copy: () => Promise<boolean>;
  readonly download: () => void;
}) {
  const [notice, setNotice] = useState<string | null>(null);
  useEffect(() => {
    if (notice === null) return;
    const timer = setTimeout(() => setNotice(null), copiedNoticeMs);
    return () => clearTimeout(timer);
  }, [notice]);
  const onClick = async () => {
    if (await copy()) {
      setNotice('Copied');
    } else {
      download();
      setNotice('Saved as a file');
    }
  };
  return (
    <button type="button" class="small text" onClick={() => void onClick()}>
      {notice ?? label}
      <span class="visually-hidden">: {subject}</span>
      <span class="visually-hidden" role="status">
        {notice}
      </span>
    </button>
  );
}
