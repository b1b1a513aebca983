import type { OfferState } from '../api-types.ts';

/** Words for the states of offers, for headers and for sentences. */
export const offerStateWords: Readonly<Record<OfferState, { readonly text: string; readonly kind: string }>> = {
  shown: { text: 'shown', kind: 'good' },
  outdated: { text: 'outdated', kind: 'bad' },
  daily_cap: { text: 'at daily cap', kind: 'warn' },
  budget: { text: 'budget used up', kind: 'warn' },
  paced: { text: 'paced', kind: 'warn' },
};

/** State of an offer, or the reasons why it is hidden. */
export function OfferStateWords({ states }: { readonly states: readonly OfferState[] }) {
  return (
    <span class="words">
      {states.map((state) => (
        <span key={state} class={`word ${offerStateWords[state]?.kind ?? ''}`}>
          {offerStateWords[state]?.text ?? state}
        </span>
      ))}
    </span>
  );
}
