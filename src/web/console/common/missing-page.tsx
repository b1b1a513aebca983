import { PageHeading } from './shell.tsx';
import { Empty } from './states.tsx';

/** Page for an unknown address. */
export function MissingPage({ homeName }: { readonly homeName: string }) {
  return (
    <>
      <PageHeading title="Page not found" />
      <Empty title="This address leads to no page">
        <p>
          The link may be incomplete. <a href="#/">Go to the {homeName}.</a>
        </p>
      </Empty>
    </>
  );
}
