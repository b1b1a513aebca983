import { describeRejection } from '../../../src/confirmations/rejection-reasons.ts';
import type { ConfirmationsResponse } from '../../../src/index.ts';
import { formatCount } from '../../../src/web/console/common/format.ts';
import type { CatalogOffersPage, ConfirmationUploadEntry, Page } from '../../../src/web/console/operator/api-types.ts';
import { type Api, column, type FigurePage, shownColumn, table } from './expected-page.ts';
import { expectHistory } from './history-pages.ts';
import { findSession } from './partner-pages.ts';

/** Returns rows for the offers of the lenders that a session clicked, twice, and rows with a time in the future. */
async function createRows(api: Api) {
  const { sub_id, lenders } = await findSession(api);
  const { data } = await api.operator<CatalogOffersPage>('catalogs/personal-loans/live/offers?limit=100');
  const offers = data.filter(({ lender_name: name }) => lenders.some(({ lender }) => lender === name));
  const rows = offers.map(({ svc_offer_id }, index) => ({
    sub_id,
    svc_offer_id,
    txid: `upload-${index}`,
    status: 'funded',
    amount: 5,
    occurred_at: '2026-11-27T10:00:00Z',
  }));
  return [...rows, ...rows, ...rows.map((row) => ({ ...row, occurred_at: '2027-11-27T10:00:00Z' }))];
}

let rows: Awaited<ReturnType<typeof createRows>> = [];
let answer: ConfirmationsResponse;

/** Outcome of the upload of a file, above the history. */
export const uploadPage: FigurePage = {
  name: 'upload',
  place: '#/confirmations',
  async prepare(page, api) {
    rows = await createRows(api);
    const content = rows.map((row) => JSON.stringify(row)).join('\n');
    await page
      .getByLabel('File of confirmations')
      .setInputFiles({ name: 'payouts.ndjson', mimeType: 'application/json', buffer: Buffer.from(content) });
    const sent = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Send the file' }).click();
    answer = (await (await sent).json()) as ConfirmationsResponse;
    await page.getByText('rows were rejected').waitFor();
    await page.getByRole('table', { name: 'History of confirmations' }).waitFor();
  },
  async expect(api) {
    const { tables } = await expectHistory(api);
    const { data } = await api.operator<Page<ConfirmationUploadEntry>>('confirmations?limit=1');
    const [latest] = data as [ConfirmationUploadEntry];
    const reasons = Object.entries(latest.rejected_by_reason!).sort(([, one], [, other]) => other - one);
    const rejected = answer.results.flatMap((result, index) =>
      result.outcome === 'rejected' ? [{ place: index + 1, ...result, row: rows[index]! }] : [],
    );
    return {
      tables: {
        ...tables,
        Reasons: table(reasons, [
          column('Reason', ([reason]) => reason, String, 'reason'),
          column('Rows', ([, count]) => count, formatCount, 'rows'),
          shownColumn('What is wrong', ([reason]) => describeRejection(reason)),
        ]),
        'Rejected rows': table(rejected, [
          column('Row', ({ place }) => place, formatCount, 'line'),
          column('Reason', ({ reason }) => reason, String, 'reason'),
          shownColumn('Text of the row', ({ row, reason, payout }) =>
            JSON.stringify({ ...row, rejection: reason, payout_state: payout?.state, payout_amount: payout?.amount }),
          ),
        ]),
      },
      figures: {
        'Rows read': formatCount(latest.rows),
        'Booked now': formatCount(latest.accepted),
        'Booked before': formatCount(latest.repeated),
        Rejected: formatCount(latest.rejected),
      },
      texts: [`${formatCount(latest.rejected)} of ${formatCount(latest.rows)} rows were rejected`],
    };
  },
};
