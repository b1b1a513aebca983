/** A key, a session and a catalog are either for real users or for tests (contract section 5). */
export type Mode = 'live' | 'test';
