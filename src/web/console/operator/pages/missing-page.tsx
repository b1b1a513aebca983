import { PageHeading } from '../../common/shell.tsx';
import { Empty } from '../../common/states.tsx';

/** Page of an address that no page has. */
export function MissingPage() {
  return (
    <>
      <PageHeading title="Page not found">Page not found</PageHeading>
      <Empty title="This address leads to no page">
        <p>
          The link may be incomplete. <a href="#/">Go to the health of the service.</a>
        </p>
      </Empty>
    </>
  );
}
