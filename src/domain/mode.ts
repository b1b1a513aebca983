/** A key, a session and a catalog are either for real users or for tests (docs/contract.md#test-keys-and-the-sandbox). */
export type Mode = 'live' | 'test';
