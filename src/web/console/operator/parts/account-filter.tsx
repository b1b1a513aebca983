import { useEffect, useId, useState } from 'preact/hooks';
import { changeQuery } from '../../common/router.ts';
import { limits } from '../limits.ts';

/** Search field for the name of an account. The name stands in the address. */
export function AccountFilter({ account }: { readonly account: string }) {
  const id = useId();
  const [text, setText] = useState(account);
  useEffect(() => setText(account), [account]);
  const search = (event: Event) => {
    event.preventDefault();
    changeQuery({ account: text.trim() || null, cursor: null, page: null });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers before 2023 do not know the element search
    <form class="inline-form" role="search" onSubmit={search}>
      <div class="field">
        <label for={id}>Account</label>
        <input
          id={id}
          type="search"
          maxLength={limits.accountCharactersMax}
          value={text}
          placeholder="all accounts"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </div>
      <button type="submit" class="quiet">
        Search
      </button>
      {account !== '' && (
        <button type="button" class="quiet" onClick={() => changeQuery({ account: null, cursor: null, page: null })}>
          All accounts
        </button>
      )}
    </form>
  );
}
