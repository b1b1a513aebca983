import { apiPath, callApi } from '../../common/api-client.ts';
import { formatUtcTime } from '../../common/format.ts';
import { formatRoute } from '../../common/route.ts';
import { PageHeading } from '../../common/shell.tsx';
import { WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import type { Key, KeyLimits } from '../api-types.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { KeyStateWord } from '../parts/key-state-word.tsx';
import { Meter } from '../parts/meter.tsx';
import { formatUse } from './keys-page.tsx';

/** Page of one API key. */
export function KeyPage({ id }: { readonly id: string }) {
  const loaded = useApi<Key>(apiPath(['keys', id]), ['id', 'state', 'usage']);
  return (
    <>
      <PageHeading title={`Key ${id}`} />
      <WhenLoaded loaded={loaded} what="the key">
        {(key) => (
          <>
            <KeyFacts keyInfo={key} />
            <KeyUse keyInfo={key} />
            {key.state !== 'revoked' && <RevokeKey keyInfo={key} onRevoked={loaded.reload} />}
          </>
        )}
      </WhenLoaded>
      <p>
        <a href={formatRoute(['keys'])}>All API keys</a>
      </p>
    </>
  );
}

function KeyFacts({ keyInfo: key }: { readonly keyInfo: Key }) {
  const lastUse = key.last_used_at === null ? 'no known use' : formatUtcTime(key.last_used_at);
  return (
    <section class="card section" aria-label="Key">
      <dl class="facts">
        <div>
          <dt>State</dt>
          <dd>
            <KeyStateWord keyInfo={key} />
            {key.revoked_at !== null && ` since ${formatUtcTime(key.revoked_at)}`}
          </dd>
        </div>
        <div>
          <dt>Account</dt>
          <dd>
            <a href={formatRoute(['keys'], { account: key.account })}>{key.account}</a>
          </dd>
        </div>
        <div>
          <dt>Vertical and mode</dt>
          <dd>
            {key.vertical}, {key.mode}
          </dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>{formatUtcTime(key.created_at)}</dd>
        </div>
        <div>
          <dt>Expires</dt>
          <dd>{key.expires_at === null ? 'never' : formatUtcTime(key.expires_at)}</dd>
        </div>
        <div>
          <dt>Last used</dt>
          <dd>{lastUse}</dd>
        </div>
      </dl>
    </section>
  );
}

const limitNames: readonly (readonly [name: keyof KeyLimits, label: string])[] = [
  ['requests_per_minute', 'Requests in the last minute'],
  ['analytics_per_minute', 'Analytics queries in the last minute'],
  ['sessions_per_day', 'Sessions of the UTC day'],
];

function KeyUse({ keyInfo: { usage, ...key } }: { readonly keyInfo: Key }) {
  return (
    <section class="card section" aria-labelledby="use-title">
      <h2 id="use-title">Use of the limits</h2>
      <dl class="meters">
        {limitNames.map(([name, label]) => (
          <div key={name}>
            <dt>
              {label}
              <span class="note">{key[name] === null ? 'Default limit' : 'Limit of this key'}</span>
            </dt>
            <dd>
              <strong>{formatUse(usage[name])}</strong>
              {usage[name].limit !== null && <Meter used={usage[name].used} limit={usage[name].limit} />}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function RevokeKey({
  keyInfo: { id, account, mode },
  onRevoked,
}: {
  readonly keyInfo: Key;
  readonly onRevoked: () => void;
}) {
  return (
    <section class="card section" aria-labelledby="revoke-title">
      <h2 id="revoke-title">Revoke the key</h2>
      <p>Requests with a revoked key get 401. A revoked key cannot be used again.</p>
      <p>
        <ConfirmButton
          label="Revoke key"
          subject={id}
          title={`Revoke ${id}?`}
          keepLabel="Keep the key"
          question={
            <p>
              The account <strong>{account}</strong> can no longer use this {mode} key, and its console logins end. This
              cannot be undone.
            </p>
          }
          act={() => callApi(apiPath(['keys', id]), { method: 'DELETE' })}
          onDone={onRevoked}
        />
      </p>
    </section>
  );
}
