import type { Key } from '../api-types.ts';

const stateKinds = { active: 'good', expired: 'warn', revoked: 'bad' } as const;

/** State of a key, and `read-only` for a key that can only read figures. */
export function KeyStateWord({ keyInfo: { state, scope } }: { readonly keyInfo: Pick<Key, 'state' | 'scope'> }) {
  return (
    <span class="words">
      <span class={`word ${stateKinds[state] ?? ''}`}>{state}</span>
      {scope === 'analytics' && <span class="word">read-only</span>}
    </span>
  );
}
