import type { ExperimentResponse } from '../../common/api-types.ts';
import { CopyButton } from '../../common/copy-button.tsx';
import { formatUtcDay } from '../../common/format.ts';
import { type PartnerLogin, useLogin } from '../../common/login.ts';
import { formatRoute } from '../../common/route.ts';
import { copyText, downloadFile } from '../../common/save.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Notice, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import { writeArmCommand, writeAssignmentModule, writeSessionCommand } from '../assignment-code.ts';
import { partnerPath } from '../partner-path.ts';

/** Page with the steps that the partner's web server has to do for an experiment, with code. */
export function ExperimentCodePage({ name, isNew }: { readonly name: string; readonly isNew: boolean }) {
  const login = useLogin<PartnerLogin>();
  const loaded = useApi<ExperimentResponse>(partnerPath(login, ['experiments', name]), ['arms', 'starts_on']);
  return (
    <>
      <PageHeading title={`Code for ${name}`}>{isNew ? `${name} is defined` : `Code for ${name}`}</PageHeading>
      <WhenLoaded loaded={loaded} what="the experiment">
        {(experiment) => <Steps experiment={experiment} vertical={login.vertical} />}
      </WhenLoaded>
    </>
  );
}

function Steps({ experiment, vertical }: { readonly experiment: ExperimentResponse; readonly vertical: string }) {
  const { name, arms, unit, assignment, starts_on: startsOn, ends_on: endsOn } = experiment;
  // The page is at .../console/, and the API beside it, also behind a proxy that adds a prefix.
  const apiUrl = new URL(`../v1/${vertical}`, location.href).href;
  return (
    <>
      <Notice kind="good" title={`Sessions count from ${formatUtcDay(startsOn)} on`}>
        <p>
          {endsOn === null ? 'The experiment has no last day.' : `The last day of sessions is ${formatUtcDay(endsOn)}.`}{' '}
          <a href={formatRoute(['experiments', name])}>Open the page of the experiment</a>
        </p>
      </Notice>
      <section class="card section">
        <h2>What your web server has to do</h2>
        <ol class="steps">
          <li>{describeAssignment(assignment, unit)}</li>
          <li>
            Create each session with the tag of the page that the visitor sees:{' '}
            {arms.map(({ referrer_tag }) => referrer_tag).join(', ')}.
            {unit === 'visitor' && ' Send the same id of the visitor as unit_id.'}
          </li>
          <li>Open each page yourself. Each tag must then appear on the page “Sessions” of this console.</li>
        </ol>
      </section>
      {assignment === 'hash' && (
        <>
          <CodeBlock
            title="Choose the page of a visitor, in Node.js"
            fileName={`${name}.mjs`}
            code={writeAssignmentModule(experiment)}
          />
          <CodeBlock
            title="In any other language, ask the service for the page"
            fileName={`${name}-arm.sh`}
            code={writeArmCommand(experiment, apiUrl)}
          />
        </>
      )}
      <CodeBlock
        title="Create a session of the first page"
        fileName={`${name}-session.sh`}
        code={writeSessionCommand(experiment, apiUrl)}
      />
    </>
  );
}

function describeAssignment(assignment: ExperimentResponse['assignment'], unit: ExperimentResponse['unit']): string {
  if (assignment === 'hash') return 'Choose the page of each visitor with the code below.';
  return unit === 'visitor'
    ? 'Choose a page once for each visitor, and always show this page to the visitor.'
    : 'Choose a page at random for each session.';
}

function CodeBlock({
  title,
  code,
  fileName,
}: {
  readonly title: string;
  readonly code: string;
  readonly fileName: string;
}) {
  return (
    <section class="card section">
      <div class="heading-row">
        <h2>{title}</h2>
        <CopyButton
          label="Copy"
          subject={title}
          copy={() => copyText(code)}
          download={() => downloadFile(fileName, new Blob([code], { type: 'text/plain' }))}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </section>
  );
}
