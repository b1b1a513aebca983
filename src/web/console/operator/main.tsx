import { render } from 'preact';
import { Console, type ConsoleDefinition } from '../common/console.tsx';
import { MissingPage } from '../common/missing-page.tsx';
import type { Route } from '../common/route.ts';
import { startTheme } from '../common/theme.ts';
import type { OperatorLogin } from './operator-login.ts';
import { AuditPage } from './pages/audit-page.tsx';
import { CatalogChangesPage } from './pages/catalog-changes-page.tsx';
import { CatalogPage } from './pages/catalog-page.tsx';
import { CatalogsPage } from './pages/catalogs-page.tsx';
import { ConfirmationsPage } from './pages/confirmations-page.tsx';
import { HealthPage } from './pages/health-page.tsx';
import { KeyPage } from './pages/key-page.tsx';
import { KeysPage } from './pages/keys-page.tsx';
import { NewKeyPage } from './pages/new-key-page.tsx';
import { OriginsPage } from './pages/origins-page.tsx';
import './operator.css';

/** Returns the page of an address. */
function renderPage(route: Route) {
  const [page = '', first, second, third] = route.segments;
  if (page === '') return <HealthPage />;
  if (page === 'keys' && second === undefined) {
    if (first === undefined) return <KeysPage route={route} />;
    return first === 'new' ? <NewKeyPage route={route} /> : <KeyPage id={first} />;
  }
  if (page === 'origins' && first === undefined) return <OriginsPage route={route} />;
  if (page === 'confirmations' && first === undefined) return <ConfirmationsPage route={route} />;
  if (page === 'audit' && first === undefined) return <AuditPage route={route} />;
  if (page === 'catalogs') {
    if (first === undefined) return <CatalogsPage />;
    if (second !== undefined) {
      const CurrentPage = third === 'changes' ? CatalogChangesPage : CatalogPage;
      return <CurrentPage vertical={first} mode={second} route={route} />;
    }
  }
  return <MissingPage homeName="health of the service" />;
}

const definition: ConsoleDefinition<OperatorLogin> = {
  title: 'Operator console',
  credential: {
    member: 'token',
    label: 'Operator token',
    hint: 'The token is in the file operator-token of the data folder. It is sent once and is not stored in the browser.',
  },
  loginMembers: ['verticals', 'login_expires_at', 'now'],
  navigation: [
    { label: 'Health', segment: '' },
    { label: 'Catalogs', segment: 'catalogs' },
    { label: 'Keys', segment: 'keys' },
    { label: 'Origins', segment: 'origins' },
    { label: 'Confirmations', segment: 'confirmations' },
    { label: 'Audit log', segment: 'audit' },
  ],
  describeLogin: () => 'Operator',
  renderPage,
};

startTheme();
render(<Console definition={definition} />, document.body);
