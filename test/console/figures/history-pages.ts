import { describeRejection } from '../../../src/confirmations/rejection-reasons.ts';
import { formatCount, formatTime } from '../../../src/web/console/common/format.ts';
import type { AuditEntry, ConfirmationUploadEntry, Page } from '../../../src/web/console/operator/api-types.ts';
import {
  type Api,
  column,
  csvColumn,
  type ExpectedColumn,
  type ExpectedPage,
  type FigurePage,
  memberColumns,
  table,
} from './expected-page.ts';

const actorWords: Readonly<Record<string, string>> = {
  operator_token: 'operator, by token',
  operator_console: 'operator, in the console',
  partner_key: 'partner, by key',
  partner_console: 'partner, in the console',
  embedding_program: 'embedding program',
  service: 'the service',
};
type Acted = Pick<AuditEntry, 'actor' | 'actor_name'>;
const actorColumn = <Row extends Acted>(header: string): ExpectedColumn<Row> => ({
  header,
  csvName: 'actor',
  cell: ({ actor, actor_name: name }) => [actorWords[actor], ...(name === null ? [] : [name])].join(': '),
  value: ({ actor, actor_name: name }) => [actor, ...(name === null ? [] : [name])].join(' '),
});

const uploadColumns: readonly ExpectedColumn<ConfirmationUploadEntry>[] = [
  column('Sent (UTC)', (entry) => entry.submitted_at, formatTime, 'submitted_at'),
  actorColumn('By'),
  column('Outcome', ({ outcome }) => outcome, String, 'outcome'),
  ...memberColumns<ConfirmationUploadEntry>([
    ['Rows', 'rows', formatCount],
    ['Booked', 'accepted', formatCount],
    ['Booked before', 'repeated', formatCount],
    ['Rejected', 'rejected', formatCount],
  ]),
  {
    header: 'Reasons of rejected rows',
    csvName: 'rejected_by_reason',
    cell: ({ rejected_by_reason: reasons }) => {
      const counts = Object.entries(reasons!).sort(([, one], [, other]) => other - one);
      const tooltips = counts.map(([reason]) => describeRejection(reason)).filter((text) => /\d/.test(text));
      return [
        ...counts.map(([reason, count]) => `${formatCount(count)} ${reason}`),
        ...tooltips.map((text) => `[${text}]`),
      ].join(' ');
    },
    value: ({ rejected_by_reason: reasons }) => JSON.stringify(reasons),
  },
];

/** Returns the history of the uploads, which is below the form or below the latest upload. */
export async function expectHistory({ operator }: Api): Promise<ExpectedPage> {
  const { data } = await operator<Page<ConfirmationUploadEntry>>('confirmations?limit=10');
  return { tables: { 'History of confirmations': table(data, uploadColumns) } };
}

export const confirmationsPage: FigurePage = { name: 'confirmations', place: '#/confirmations', expect: expectHistory };

const auditColumns: readonly ExpectedColumn<AuditEntry>[] = [
  {
    ...column('Time (UTC)', ({ time }: AuditEntry) => time, String, 'time'),
    cell: ({ time, number }) => `${formatTime(time)} entry ${number}`,
  },
  actorColumn('Who'),
  {
    ...column('What', ({ action }: AuditEntry) => action, String, 'action'),
    cell: ({ action, subject }) => `${action} ${subject}`,
  },
  csvColumn('number', ({ number }) => number),
  csvColumn('subject', ({ subject }) => subject),
  {
    ...column('Details', ({ details }: AuditEntry) => JSON.stringify(details), String, 'details'),
    cell: ({ details }) =>
      Object.entries(details)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(' '),
  },
  column(
    'Hash',
    ({ hash }) => hash,
    (hash) => `${hash.slice(0, 8)} [${hash}]`,
    'hash',
  ),
];

/** Page of the audit log, with the entries since a UTC day or with all entries. */
export const auditPage = (day: string | null): FigurePage => ({
  name: day === null ? 'audit' : 'audit-since',
  place: day === null ? '#/audit' : `#/audit?since=${day}`,
  async expect({ operator }) {
    const { data } = await operator<Page<AuditEntry>>(`audit?limit=25${day === null ? '' : `&since=${day}`}`);
    return {
      fields: day === null ? [] : [`Since (UTC day): ${day}`],
      tables: { 'Audit log': table(data, auditColumns) },
    };
  },
});
