/** The key file's schema as versions before the widget made it. It stays as it is: such files are out there. */
export const version1 = `
  CREATE TABLE accounts (
    number INTEGER PRIMARY KEY AUTOINCREMENT CHECK (number BETWEEN 1 AND 4294967295),
    name TEXT NOT NULL UNIQUE
  ) STRICT;

  CREATE TABLE keys (
    number INTEGER PRIMARY KEY AUTOINCREMENT CHECK (number BETWEEN 1 AND 4294967295),
    id TEXT NOT NULL UNIQUE,
    account INTEGER NOT NULL REFERENCES accounts (number),
    vertical TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    created INTEGER NOT NULL,
    expires INTEGER,
    revoked INTEGER,
    requests_per_minute INTEGER CHECK (requests_per_minute > 0),
    analytics_per_minute INTEGER CHECK (analytics_per_minute > 0),
    sessions_per_day INTEGER CHECK (sessions_per_day > 0)
  ) STRICT;

  PRAGMA user_version = 1;
`;

/** What the next version added. */
export const version2 = `
  CREATE TABLE embed_origins (
    account INTEGER NOT NULL REFERENCES accounts (number),
    origin TEXT NOT NULL,
    PRIMARY KEY (account, origin)
  ) STRICT, WITHOUT ROWID;

  PRAGMA user_version = 2;
`;
