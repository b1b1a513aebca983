import { useState } from 'preact/hooks';
import { type ApiFailure, apiPath, callApi } from '../../common/api-client.ts';
import { createCursorPaging } from '../../common/cursor-paging.ts';
import { DataTable } from '../../common/data-table.tsx';
import type { Route } from '../../common/route.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Empty, FailureNotice, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import type { Origin, Page } from '../api-types.ts';
import { limits } from '../limits.ts';
import { AccountFilter } from '../parts/account-filter.tsx';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Field, isFieldFailure } from '../parts/field.tsx';

/** Page with the origins of web pages that may embed the widgets of an account. */
export function OriginsPage({ route }: { readonly route: Route }) {
  const { account = '' } = route.query;
  const query = { account: account || null, limit: limits.originsPerPage, cursor: route.query.cursor };
  const loaded = useApi<Page<Origin>>(apiPath(['origins'], query), ['data', 'next_cursor']);
  return (
    <>
      <PageHeading
        title="Widget origins"
        lead="Web pages of these origins may show the widgets of an account. Without an origin, live widgets show no offers."
      />
      <div class="toolbar">
        <AccountFilter account={account} />
      </div>
      <section class="card section">
        <WhenLoaded loaded={loaded} what="origins">
          {(page) => <OriginsTable page={page} account={account} route={route} onChanged={loaded.reload} />}
        </WhenLoaded>
      </section>
      <AllowOrigins key={account} account={account} onAllowed={loaded.reload} />
    </>
  );
}

function OriginsTable({
  page,
  account,
  route,
  onChanged,
}: {
  readonly page: Page<Origin>;
  readonly account: string;
  readonly route: Route;
  readonly onChanged: () => void;
}) {
  return (
    <DataTable
      caption="Widget origins"
      isCaptionHidden
      rows={page.data}
      rowKey={(row) => `${row.account} ${row.origin}`}
      csvName="widget-origins"
      columns={[
        { header: 'Origin', csvName: 'origin', cell: ({ origin }) => origin, value: ({ origin }) => origin },
        { header: 'Account', csvName: 'account', cell: (row) => row.account, value: (row) => row.account },
        { header: 'Change', cell: (row) => <RemoveOrigin {...row} onRemoved={onChanged} /> },
      ]}
      paging={createCursorPaging(route, page.next_cursor)}
      empty={
        <Empty title={account === '' ? 'No origins yet' : `The account ${account} has no origins`}>
          <p>Live widgets of an account without origins show no offers. Widgets of test keys work on every page.</p>
        </Empty>
      }
    />
  );
}

function RemoveOrigin({ account, origin, onRemoved }: Origin & { readonly onRemoved: () => void }) {
  return (
    <ConfirmButton
      label="Remove"
      subject={`${origin} of ${account}`}
      title="Remove the origin?"
      keepLabel="Keep the origin"
      question={
        <p>
          Widgets of the account <strong>{account}</strong> will no longer show offers on pages of{' '}
          <strong>{origin}</strong>.
        </p>
      }
      act={() => callApi(apiPath(['origins'], { account, origin }), { method: 'DELETE' })}
      onDone={onRemoved}
    />
  );
}

function AllowOrigins({ account, onAllowed }: { readonly account: string; readonly onAllowed: () => void }) {
  const [name, setName] = useState(account);
  const [text, setText] = useState('');
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [notice, setNotice] = useState('');
  const allow = async (event: Event) => {
    event.preventDefault();
    const origins = text.split(/\s+/).filter((each) => each !== '');
    const body = { account: name.trim(), origins };
    const result = await callApi<readonly { readonly outcome: string }[]>('origins', { method: 'POST', body });
    setFailure(result.ok ? null : result.failure);
    if (!result.ok) return setNotice('');
    const added = result.value.filter(({ outcome }) => outcome === 'allowed').length;
    setNotice(`${added} added, ${result.value.length - added} allowed before.`);
    setText('');
    onAllowed();
  };
  return (
    <form class="card form" onSubmit={(event) => void allow(event)} noValidate aria-labelledby="allow-title">
      <h2 id="allow-title">Allow origins</h2>
      {failure !== null && !isFieldFailure(failure, ['account', 'origins']) && <FailureNotice failure={failure} />}
      <Field name="account" label="Account" failure={failure}>
        {(attributes) => (
          <input
            {...attributes}
            value={name}
            maxLength={limits.accountCharactersMax}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
      </Field>
      <Field name="origins" label="Origins" note="One in each line, such as https://www.example.com" failure={failure}>
        {(attributes) => (
          <textarea
            {...attributes}
            rows={3}
            value={text}
            spellcheck={false}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
      </Field>
      <p>
        <button type="submit">Allow</button>
      </p>
      <p role="status">{notice}</p>
    </form>
  );
}
