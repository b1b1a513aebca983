import { formatShare } from '../../common/format.ts';
import { limits } from '../limits.ts';

/** Bar with the used share of a limit. The share also stands beside it as text. */
export function Meter({ used, limit }: { readonly used: number; readonly limit: number }) {
  const share = limit > 0 ? used / limit : 0;
  const level = share >= 1 ? 'bad' : share >= limits.meterWarningShare ? 'warn' : 'good';
  return (
    <span class={`meter ${level}`}>
      <span class="meter-track" aria-hidden="true">
        <span style={{ width: `${Math.min(1, share) * 100}%` }} />
      </span>
      <span>{formatShare(share)}</span>
    </span>
  );
}
