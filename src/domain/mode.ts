/** Mode of an API key: live, or test for the sandbox (docs/contract.md#test-keys-and-the-sandbox). */
export type ApiKeyMode = 'live' | 'test';
