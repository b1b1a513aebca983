/** See docs/contract.md#test-keys-and-the-sandbox. */
export type Mode = 'live' | 'test';
