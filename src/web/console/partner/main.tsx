import { render } from 'preact';
import { Console, type ConsoleDefinition } from '../common/console.tsx';
import type { PartnerLogin } from '../common/login.ts';
import { MissingPage } from '../common/missing-page.tsx';
import type { Route } from '../common/route.ts';
import type { Mark } from '../common/shell.tsx';
import { startTheme } from '../common/theme.ts';
import { ExperimentCodePage } from './pages/experiment-code-page.tsx';
import { ExperimentPage } from './pages/experiment-page.tsx';
import { NewExperimentPage } from './pages/new-experiment-page.tsx';
import { OffersPage } from './pages/offers-page.tsx';
import { OverviewPage } from './pages/overview-page.tsx';
import { SessionPage } from './pages/session-page.tsx';
import { SessionsPage } from './pages/sessions-page.tsx';
import './partner.css';

function listMarks({ mode, scope }: PartnerLogin): Mark[] {
  const marks: Mark[] = [];
  if (mode === 'test')
    marks.push({
      text: 'Test key',
      explanation: 'Sessions of test keys are in the sandbox, and their clicks earn nothing',
    });
  if (scope === 'analytics')
    marks.push({ text: 'Read-only key', explanation: 'This key can read figures, and cannot change experiments' });
  return marks;
}

/** Returns the page of an address. A new page is one line here, and an entry of `navigation`. */
function renderPage(route: Route) {
  const [page = '', name, part] = route.segments;
  if (page === '') return <OverviewPage route={route} />;
  if (page === 'experiments' && name !== undefined && part === 'code') {
    return <ExperimentCodePage name={name} isNew={false} />;
  }
  if (page === 'experiments' && name !== undefined) return <ExperimentPage name={name} route={route} />;
  if (page === 'offers') return <OffersPage route={route} />;
  if (page === 'sessions') return name === undefined ? <SessionsPage route={route} /> : <SessionPage subId={name} />;
  if (page === 'new-experiment') return <NewExperimentPage route={route} />;
  return <MissingPage homeName="overview" />;
}

const navigation = [
  { label: 'Overview', segment: '' },
  { label: 'Offers', segment: 'offers' },
  { label: 'Sessions', segment: 'sessions' },
];

/** A read-only key cannot define experiments. */
function listNavigation({ scope }: PartnerLogin) {
  return scope === 'analytics' ? navigation : [...navigation, { label: 'New experiment', segment: 'new-experiment' }];
}

const definition: ConsoleDefinition<PartnerLogin> = {
  title: 'Partner console',
  credential: {
    member: 'key',
    label: 'API key',
    hint: 'A live key shows real figures, a test key those of the sandbox. The key is sent once and is not stored in the browser.',
  },
  loginMembers: ['account', 'vertical', 'mode', 'scope', 'login_expires_at', 'now'],
  navigation: listNavigation,
  describeLogin: ({ account, vertical }) => `${account} · ${vertical}`,
  listMarks,
  renderPage,
};

startTheme();
render(<Console definition={definition} />, document.body);
