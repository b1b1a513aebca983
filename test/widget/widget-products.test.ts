import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import type { OfferView } from '../../src/catalogs/offer-view.ts';
import type { Vertical } from '../../src/index.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { findAccessibilityViolations } from '../support/accessibility.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import { sampleBorrowers } from '../support/sample-borrowers.ts';
import { equipmentLeasesFixture } from '../support/vertical-fixtures.ts';
import {
  changeOffers,
  collectErrors,
  countedEvents,
  darkPageHead,
  eventually,
  iframeHeightScript,
  messageTitle,
  offerCards,
  offerLink,
  offersAddress,
  useWidgetTestPages,
  verticalOf,
} from './widget-test-pages.ts';

const pages = useWidgetTestPages({
  catalogs: [...builtInVerticals.listExampleCatalogs(), ...equipmentLeasesFixture.catalogs],
});

/** Folder of screenshots for manual review. */
const artefacts = fileURLToPath(new URL('../../test-artefacts/widget/', import.meta.url));
const screenWidths = [320, 768, 1200] as const;
/** Widths on both sides of the limits in the style sheet, where the columns are narrowest. */
const columnWidths = [360, 580, 620, 900, 960, 1010, 1060] as const;
const colorSchemes = ['light', 'dark'] as const;

/** Values of one object of figures in an offer, such as `card`. */
// biome-ignore lint/suspicious/noExplicitAny: the members have different types, which the contract tests check
type Figures = Readonly<Record<string, any>>;
type Offer = OfferView & { readonly [Member in 'card' | 'mortgage' | 'deposit' | 'advisor']?: Figures } & {
  readonly compensation_disclosure?: string;
};

// Formats of the expected texts, which do not use the code of the widget.
const dollars = (amount: number, decimals: number) => {
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return `${amount < 0 ? '−' : ''}$${Math.abs(amount).toLocaleString('en-US', digits)}`;
};
const whole = (amount: number) => dollars(amount, 0);
const cents = (amount: number) => dollars(amount, 2);
const minimum = (amount: number) => (amount === 0 ? 'No minimum' : fee(amount));
const fee = (amount: number) => (amount === 0 ? 'None' : dollars(amount, Number.isInteger(amount) ? 0 : 2));
const rate = (percent: number) => `${percent.toFixed(Number.isInteger(Math.round(percent * 1e6) / 1e4) ? 2 : 3)}%`;
const rateRange = ({ min, max }: { readonly min: number; readonly max: number }, to = ' to ') =>
  min === max ? rate(min) : `${rate(min)}${to}${rate(max)}`;
const monthCount = (months: number) => (months === 1 ? '1 month' : `${months} months`);
const loanTypeNames: Readonly<Record<string, string>> = {
  conventional: 'Conventional',
  jumbo: 'Jumbo',
  fha: 'FHA',
  va: 'VA',
  usda: 'USDA',
};
const longDate = (date: string) =>
  new Date(date).toLocaleDateString('en-US', { timeZone: 'UTC', year: 'numeric', month: 'long', day: 'numeric' });

/** What the widget of a vertical must show. */
interface Expected {
  readonly title: string;
  readonly sortOrders: readonly string[];
  /** Phrases of the disclosure and the caveat. */
  readonly phrases: readonly string[];
  /** Returns texts that the card of an offer must contain without opening its details. */
  figures(offer: Offer): readonly string[];
  /** Returns texts that the details of an offer must contain. */
  details(offer: Offer): readonly string[];
  /** Returns the heading of the card of an offer. Default: the lender's name. */
  heading?(offer: Offer): string;
  /** Member of an offer with the figures of the product; null for loans. */
  readonly member: 'card' | 'mortgage' | 'deposit' | 'advisor' | null;
}

const expectedByVertical: Readonly<Record<string, Expected>> = {
  'personal-loans': {
    title: 'Your loan offers',
    sortOrders: ['Recommended', 'Lowest APR', 'Highest amount'],
    phrases: ['What a lender pays us plays no part in it', 'No credit decision has been made'],
    figures: ({ monthly_payment_estimate: payment, payment_term_months: term, apr_range: apr }) => [
      `Estimated payment${cents(payment!)}/month for $15,000 over ${term} months, APR from ${rateRange(apr!)}`,
      `APR range${rateRange(apr!, '–')}`,
    ],
    details: ({ payment_term_months: term }) => [`takes ${term} monthly payments of`],
    member: null,
  },
  'credit-cards': {
    title: 'Your card offers',
    sortOrders: ['Recommended', 'Lowest purchase APR', 'Highest first-year value'],
    phrases: [
      'What an issuer pays us plays no part in it',
      'less fees and interest',
      'base rewards (the rate for “all other purchases”)',
      'up to the issuer',
    ],
    heading: ({ card }) => card!.name,
    figures: ({ lender_name: issuer, card }) => {
      const { intro_purchase_apr: purchases, intro_transfer_apr: transfers, bonus, rewards } = card!;
      const firstFee = card!.annual_fee_first_year;
      const best = rewards.toSorted((a: Figures, b: Figures) => b.percent - a.percent)[0];
      return [
        `${card!.name}${issuer}`,
        `Purchase APR${rateRange(card!.purchase_apr, '–')} ${
          card!.variable ? 'variable, follows an index' : 'does not follow an index'
        }`,
        `Annual fee${
          firstFee === card!.annual_fee
            ? fee(firstFee)
            : `${whole(firstFee)} in the first year, then ${whole(card!.annual_fee)}`
        }`,
        `Estimated first-year value${cents(card!.first_year_value)} base rewards and bonus, less fees and interest`,
        purchases === null
          ? ''
          : `Intro APR, purchases${rate(purchases.percent)} for ${monthCount(purchases.months)} then ${rateRange(card!.purchase_apr)}`,
        transfers === null
          ? ''
          : `Intro APR, balance transfers${rate(transfers.percent)} for ${monthCount(transfers.months)} then ${rateRange(card!.transfer_apr)}`,
        bonus === null
          ? ''
          : `Bonus${fee(bonus.value)} if you spend ${fee(bonus.spend)} within ${monthCount(bonus.months)}`,
        best.percent === 0 ? '' : `Rewards${best.percent}% on `,
        card!.security_deposit_min === null
          ? ''
          : `Security deposit${fee(card!.security_deposit_min)} to ${fee(card!.security_deposit_max)}`,
      ];
    },
    details: ({ card }) => [
      `APR for cash advances${rate(card!.cash_advance_apr)}`,
      `Penalty APR${card!.penalty_apr === null ? 'None' : rate(card!.penalty_apr)}`,
      `Minimum interest charge${fee(card!.minimum_interest_charge)}`,
      ...['transfer', 'cash_advance'].map((name) => {
        const { percent, min } = card![`${name}_fee`];
        const share = `${percent}% of the amount`;
        if (percent === 0) return fee(min);
        return min === 0 ? share : `${fee(min)} or ${share}, whichever is greater`;
      }),
      card!.foreign_transaction_fee_percent === 0
        ? 'Foreign transaction feeNone'
        : `Foreign transaction fee${card!.foreign_transaction_fee_percent}% of each transaction`,
      card!.late_fee_max === 0 ? 'Late payment feeNone' : `Late payment feeUp to ${fee(card!.late_fee_max)}`,
      `Returned payment fee${card!.returned_payment_fee_max === 0 ? 'None' : `Up to ${fee(card!.returned_payment_fee_max)}`}`,
      card!.grace_period_days === 0
        ? 'starts on the transaction date'
        : `at least ${card!.grace_period_days} days after`,
    ],
    member: 'card',
  },
  mortgage: {
    title: 'Your mortgage offers',
    sortOrders: ['Recommended', 'Lowest APR', 'Highest loan amount'],
    phrases: [
      'plays no part in any order',
      'the same for each application',
      'Payments do not include taxes and insurance premiums',
    ],
    figures: ({ apr_range: apr, monthly_payment_estimate: payment, payment_term_months: term, mortgage }) => {
      const isAdjustable = mortgage!.rate_type === 'adjustable';
      const { mortgage_insurance: insurance, points_percent: points, adjustable } = mortgage!;
      const laterPeriods: readonly Figures[] = adjustable?.payments.slice(1) ?? [];
      const lastMonthOf = (at: number) => (laterPeriods[at + 1]?.from_month ?? term! + 1) - 1;
      return [
        `NMLS ID ${mortgage!.nmls_id}`,
        isAdjustable
          ? `Initial interest rate${rate(mortgage!.rate)} may change after ${mortgage!.fixed_months} months`
          : `Interest rate${rate(mortgage!.rate)}`,
        `APR${rateRange(apr!)}`,
        `Estimated payment${cents(payment!)}/month for a loan of ${whole(mortgage!.loan_amount)} over ${term} months${
          isAdjustable ? `; in months 1 to ${lastMonthOf(-1)}` : ''
        }`,
        ...laterPeriods.map(
          (period, at) =>
            `Then, in months ${period.from_month} to ${lastMonthOf(at)}${rate(period.rate)}, ${cents(period.payment)}/month if the index stays at ${rate(adjustable.index_percent)}`,
        ),
        insurance === 0
          ? 'Mortgage insuranceNone'
          : `Mortgage insurance${cents(insurance)}/month included in the payment, for ${monthCount(mortgage!.mortgage_insurance_months)}`,
        points === 0 ? 'PointsNone' : `Points${points}% of the loan`,
        `Lender fees${fee(mortgage!.lender_fees)}`,
        `Loan type${loanTypeNames[mortgage!.loan_type]}, ${isAdjustable ? 'adjustable' : 'fixed'} rate`,
        `Rate lock${mortgage!.lock_days} days`,
      ];
    },
    details: ({ mortgage }) => [
      `Upfront premium, part of the loan${fee(mortgage!.upfront_premium)}`,
      ...(mortgage!.adjustable === null ? [] : adjustableRateTexts(mortgage!.adjustable)),
      `Loan-to-value ratio${mortgage!.ltv_percent}%`,
      `Principal and interest${cents(mortgage!.principal_and_interest)}/month`,
      `Cost over five years${cents(mortgage!.cost_over_five_years)}`,
      'Cost over five years: payments, points, fees, prepaid interest and upfront premium, less the principal',
    ],
    member: 'mortgage',
  },
  banking: {
    title: 'Your banking offers',
    sortOrders: ['Recommended', 'Highest APY', 'Highest first-year earnings'],
    phrases: ['What a bank or credit union pays us plays no part in it', 'Fees could reduce the earnings'],
    heading: ({ deposit }) => deposit!.name,
    figures: ({ lender_name: institution, as_of: asOf, deposit }) => {
      const { bonus, term_months: term, early_withdrawal_penalty_days: penalty, fee_waived_from: waived } = deposit!;
      return [
        `Annual percentage yield (APY)${rate(deposit!.apy)} as of ${longDate(asOf!)}; ${
          deposit!.variable ? 'variable rate, may change after you open the account' : 'fixed rate'
        }`,
        `${deposit!.name}${institution}${
          deposit!.insured_by === 'fdic' ? 'Member FDIC, certificate' : 'Insured by NCUA, charter'
        } ${deposit!.certificate_number}`,
        ...(deposit!.minimum_deposit === deposit!.minimum_balance_for_apy
          ? [`Minimum to open and to earn the APY${minimum(deposit!.minimum_deposit)}`]
          : [
              `Minimum to open${minimum(deposit!.minimum_deposit)}`,
              `Minimum to earn the APY${minimum(deposit!.minimum_balance_for_apy)}`,
            ]),
        `Monthly fee${fee(deposit!.monthly_fee)}${waived === null ? '' : ` none from a balance of ${whole(waived)}`}`,
        `Estimated first-year earnings${cents(deposit!.first_year_earnings)} `,
        bonus === null
          ? ''
          : `Bonus${fee(bonus.amount)} ${bonus.requirement}; to be met within ${bonus.days} days of opening${
              bonus.minimum_deposit === null ? '' : `; for a deposit of ${whole(bonus.minimum_deposit)} or more`
            }; paid within ${bonus.paid_within_days} days after that`,
        term === null ? '' : `Term${monthCount(term)}`,
        penalty === null ? '' : `Early withdrawal penalty${penalty} days of interest`,
      ];
    },
    details: ({ deposit }) => [
      `Interest rate: ${rate(deposit!.rate)}`,
      ...(deposit!.tiers.length < 2
        ? []
        : deposit!.tiers.map((tier: Figures, at: number) => {
            const next = deposit!.tiers[at + 1];
            const isRange = deposit!.tier_method === 'marginal' && next?.apy !== tier.apy;
            const [before, after] = !isRange ? ['', ''] : next ? ['', ` to ${rate(next.apy)}`] : ['up to ', ''];
            return `${whole(tier.from)}${rate(tier.rate)}${before}${rate(tier.apy)}${after}`;
          })),
    ],
    member: 'deposit',
  },
  'find-advisor': {
    title: 'Your advisor matches',
    sortOrders: ['Recommended', 'Lowest annual fee', 'Largest minimum assets'],
    phrases: ['What an advisor pays us plays no part in it', 'the same for each introduction', 'Fees are estimates'],
    heading: ({ advisor }) => advisor!.name,
    figures: ({ lender_name: firm, advisor, compensation_disclosure: payment }) => [
      `${advisor!.name}${firm}${firmTypeNames[advisor!.firm_type]}, CRD ${advisor!.crd_number}`,
      `Estimated annual fee${cents(advisor!.estimated_annual_fee)} ${feeModelText(advisor!)}`,
      `Minimum assets${fee(advisor!.minimum_assets)}`,
      `Credentials${advisor!.credentials.join(', ').toUpperCase().replace('CHFC', 'ChFC') || 'None'}`,
      `Fiduciary${advisor!.fiduciary ? 'Yes' : 'No'}`,
      `Experience${advisor!.years} years`,
      `Meetings${meetingNames[advisor!.meeting]}`,
      `Public record${advisor!.has_disclosures ? 'Has' : 'No'} disclosures`,
      `How we are paid${payment}`,
    ],
    details: ({ lender_name: firm, advisor }) => [
      `Services: ${advisor!.services.join(', ')}.`,
      `Relationship summary (Form CRS) of ${firm}, ${advisor!.name}`,
      ...(advisor!.fee_tiers?.length > 1
        ? advisor!.fee_tiers.map((tier: Figures) => `${whole(tier.from)}${tier.percent}%`)
        : []),
    ],
    member: 'advisor',
  },
};

const firmTypeNames: Readonly<Record<string, string>> = {
  ria: 'Investment adviser',
  broker_dealer: 'Broker-dealer',
  dual: 'Investment adviser and broker-dealer',
};
const meetingNames: Readonly<Record<string, string>> = {
  in_person: 'In person',
  remote: 'Remote',
  both: 'In person or remote',
};

function feeModelText({ fee_model: model, fee_tiers: tiers, fee_usd: usd, hours_per_year: hours }: Figures): string {
  if (model === 'flat') return 'a flat fee';
  if (model === 'hourly') return `${fee(usd)} an hour, about ${hours} hours a year`;
  if (model === 'commission') return 'from commissions, as the firm estimates';
  const [first, last] = [tiers[0].percent, tiers.at(-1).percent];
  return `${first === last ? '' : `${first}% to `}${last}% of your assets`;
}

function adjustableRateTexts(adjustable: Figures): readonly string[] {
  const { first, periodic, lifetime } = adjustable.caps_percent;
  const points = (limit: number) => `${limit} percentage ${limit === 1 ? 'point' : 'points'}`;
  return [
    `Index${rate(adjustable.index_percent)}`,
    `Margin${rate(adjustable.margin_percent)}`,
    `Fully indexed rate${rate(adjustable.fully_indexed_rate)}`,
    `Time between changes${monthCount(adjustable.adjustment_months)}`,
    `Largest first change${points(first)}`,
    `Largest later change${points(periodic)}`,
    `Largest increase in all${points(lifetime)}`,
  ];
}

/** Opens a partner's page with the widget of a borrower in a vertical. Returns the response that the widget received. */
async function openWidget(t: TestContext, vertical: Vertical, fields = sampleBorrowers[vertical.segment]!) {
  const widget = await pages.prepare(t, { vertical, fields, mode: 'live', allowed: true, head: darkPageHead });
  const received = widget.page.waitForResponse(offersAddress);
  await widget.page.goto(widget.url);
  await offerLink(widget.page).waitFor();
  const { offers, loan_amount: loanAmount } = (await (await received).json()) as {
    readonly offers: readonly Offer[];
    readonly loan_amount: number | null;
  };
  return { ...widget, offers, loanAmount };
}

async function assertNoOverflow(page: Page): Promise<void> {
  const widest = await page.locator('.panel').evaluate((panel) => {
    const { clientWidth } = panel.ownerDocument.documentElement;
    // Content of visually hidden elements is larger than the elements, on purpose.
    const visible = [panel, ...panel.querySelectorAll(':not(.visually-hidden)')];
    return Math.max(...visible.map((node) => node.getBoundingClientRect().right)) - clientWidth;
  });
  assert.ok(widest <= 0, `the widget is ${widest} px wider than the page`);
  const tooWide = await page
    .locator('.value')
    .evaluateAll((values) =>
      values.filter((value) => value.scrollWidth > value.clientWidth).map((value) => value.textContent),
    );
  assert.deepEqual(tooWide, [], 'figures that are wider than their column');
}

describe('widgets of all verticals', () => {
  for (const vertical of builtInVerticals.verticals) {
    const { segment } = vertical;
    const expected = expectedByVertical[segment]!;

    test(`${segment}: the cards show the figures of the offers on all screens`, async (t) => {
      const widget = await openWidget(t, vertical);
      const { page, offers } = widget;
      const errors = collectErrors(page);
      assert.equal(widget.loanAmount, segment === 'personal-loans' ? 15_000 : null);
      assert.equal(await page.locator('.title').textContent(), expected.title);
      const options = page.getByLabel('Sort by').locator('option');
      assert.deepEqual(await options.allTextContents(), expected.sortOrders);
      const cards = await offerCards(page).evaluateAll((nodes) =>
        nodes.map((card) => ({
          visible: [...card.children]
            .filter(({ className }) => className !== 'details')
            .map(({ textContent }) => textContent)
            .join('\n'),
          details: card.querySelector('.details').textContent as string,
          name: card.querySelector('h3').textContent as string,
          links: [...card.querySelectorAll('a, summary')].map(({ textContent }) => textContent as string),
          terms: (card.querySelector('.terms')?.href ?? null) as string | null,
          legal: (card.querySelector('.legal')?.textContent ?? null) as string | null,
        })),
      );
      assert.equal(cards.length, offers.length);
      for (const [place, offer] of offers.entries()) {
        const { visible, details, name, links, terms, legal } = cards[place]!;
        assert.equal(name, expected.heading?.(offer) ?? offer.lender_name);
        for (const link of links) assert.ok(link.includes(offer.lender_name) && link.includes(name), link);
        for (const text of expected.figures(offer)) assert.ok(visible.includes(text), `"${text}" in ${visible}`);
        for (const text of expected.details(offer)) assert.ok(details.includes(text), `"${text}" in ${details}`);
        assert.deepEqual([legal, terms], [offer.legal ?? null, offer.terms_url ?? null]);
        if (offer.as_of !== undefined) assert.ok(visible.includes(`Figures as of ${longDate(offer.as_of)}`));
      }

      for (const summary of await page.locator('summary').all()) await summary.click();
      const disclosure = (await page.locator('.frame').textContent())!;
      for (const phrase of expected.phrases) assert.ok(disclosure.includes(phrase), phrase);
      assert.ok(!/sponsored first/i.test(disclosure));

      for (const width of columnWidths) {
        await page.setViewportSize({ width, height: 800 });
        await assertNoOverflow(page);
      }
      mkdirSync(artefacts, { recursive: true });
      for (const colorScheme of colorSchemes) {
        await page.emulateMedia({ colorScheme });
        for (const width of screenWidths) {
          await page.setViewportSize({ width, height: 800 });
          await page.screenshot({ path: `${artefacts}${segment}-${colorScheme}-${width}.png`, fullPage: true });
          await assertNoOverflow(page);
          const violations = await findAccessibilityViolations(page, [colorScheme]);
          assert.deepEqual(violations, [], `${segment}, ${colorScheme}, ${width} px`);
        }
      }

      const landing = page.context().waitForEvent('request', (request) => new URL(request.url()).pathname === '/c');
      await page.context().route('**/c?*', (route) => route.fulfill({ contentType: 'text/html', body: 'A lender' }));
      await offerLink(page).click();
      const clicked = new URL((await landing).url());
      assert.deepEqual(
        [clicked.searchParams.get('offer'), clicked.searchParams.get('sub')],
        [offers[0]!.svc_offer_id, widget.subId],
      );
      await eventually(async () => (await countedEvents(widget)).offer_click, 1);
      assert.deepEqual(errors, []);
    });
  }
});

describe('iframe widgets of all verticals', () => {
  for (const vertical of builtInVerticals.verticals) {
    const { segment } = vertical;

    test(`${segment}: on a screen of 320 px, opened details fit into the iframe and no word is broken`, async (t) => {
      const { caller, subId } = await pages.widget({
        vertical,
        fields: sampleBorrowers[segment]!,
        mode: 'live',
        allowed: true,
      });
      const { html } = await caller.getEmbedCode(subId, 'iframe', { max_offers: 10 });
      const head = `${iframeHeightScript()}<style>main { padding: 1rem }</style>`;
      const page = await pages.open(t, html, { viewport: { width: 320, height: 640 } }, head);
      const frame = page.frameLocator('iframe');
      await offerLink(frame).waitFor();
      const closed = await frame.locator('.frame').evaluate((content) => content.getBoundingClientRect().height);
      for (const summary of await frame.locator('summary').all()) await summary.click();
      const opened = await frame.locator('.frame').evaluate((content) => content.getBoundingClientRect().height);
      assert.ok(opened > closed);
      await eventually(
        () => page.locator('iframe').evaluate(({ clientHeight, clientWidth }) => [clientHeight, clientWidth]),
        [Math.ceil(opened), 288],
      );
      const overflow = await frame
        .locator('html')
        .evaluate((root) => [root.scrollHeight - root.clientHeight, root.scrollWidth - root.clientWidth]);
      assert.deepEqual(overflow, [0, 0]);
      assert.deepEqual(await findBrokenWords(frame.locator('.figure, table')), []);
    });
  }
});

/** Returns the words that are on more than one line in the text nodes of these elements. */
async function findBrokenWords(elements: Locator): Promise<string[]> {
  return elements.evaluateAll((nodes) => {
    const broken: string[] = [];
    for (const node of nodes) {
      const { ownerDocument: document } = node;
      const walker = document.createTreeWalker(node, 4);
      for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
        for (const { index, 0: word } of (text.data as string).matchAll(/[^\s\-–]+/g)) {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word);
        }
      }
    }
    return broken;
  });
}

describe('widgets with unusual offers', () => {
  const productVerticals = builtInVerticals.verticals.filter(
    ({ segment }) => expectedByVertical[segment]?.member != null,
  );

  test('offers with null members, missing members or unknown members have cards without the missing figures', async (t) => {
    for (const vertical of productVerticals) {
      const member = expectedByVertical[vertical.segment]!.member!;
      const widget = await pages.prepare(t, { vertical, fields: sampleBorrowers[vertical.segment]!, maxOffers: 5 });
      const { page } = widget;
      const errors = collectErrors(page);
      await changeOffers(page, (json) => {
        const [first, second, third] = json.offers as Record<string, unknown>[];
        for (const name of ['apr_range', 'monthly_payment_estimate', 'payment_term_months', 'loan_amount_range']) {
          first![name] = null;
        }
        first![member] = Object.fromEntries(Object.keys(first![member] as object).map((name) => [name, null]));
        Object.assign(first!, {
          legal: null,
          compensation_disclosure: null,
          as_of: 'soon',
          terms_url: 'javascript:document.title="followed"',
        });
        delete second![member];
        Object.assign(third![member] as object, { member_to_come: { of: ['a', 'later', 'version'] } });
        Object.assign(third!, { another_to_come: 7 });
        json.offers = [first, second, third];
      });
      await page.goto(widget.url);
      await offerLink(page).waitFor();
      const figureCounts = await offerCards(page).evaluateAll((cards) =>
        cards.map((card) => card.querySelectorAll('.figure').length as number),
      );
      assert.equal(figureCounts.length, 3, vertical.segment);
      assert.ok(figureCounts[0] === 0 && figureCounts[2]! >= 4, `${vertical.segment}: ${figureCounts.join()}`);
      const text = (await page.locator('.body').textContent())!;
      assert.doesNotMatch(text, /null|undefined|NaN|Invalid|a later version/, vertical.segment);
      const [, ...links] = await offerCards(page)
        .first()
        .locator('a')
        .evaluateAll((found) => found.map(({ href }) => href as string));
      assert.deepEqual(links, []);
      assert.deepEqual(errors, []);
    }
  });

  test('tables of tiers show ranges of yields or the changes of the rate, and bonuses show their text and deadlines', async (t) => {
    const tiers = (...values: readonly (readonly [from: number, rate: number, apy: number])[]) =>
      values.map(([from, rate, apy]) => ({ from, rate, apy }));
    const daily = { compounding: 'daily', term_months: null };
    const rising = tiers([0, 5.25, 5.39], [2_500, 5.5, 5.39], [15_000, 5.75, 5.61]);
    const accounts = [
      // The example of 12 CFR 1030, Appendix A.
      [{ ...daily, tier_method: 'marginal', tiers: rising }, ['5.39%', '5.39% to 5.61%', 'from 5.61%']],
      [{ ...daily, tier_method: 'whole_balance', tiers: rising }, ['5.39%', '5.39%', '5.61%']],
      [
        { ...daily, tier_method: 'marginal', tiers: tiers([0, 5.84, 6.01], [10_000, 0.1, 6.01], [20_000, 0.05, 3.06]) },
        ['6.01%', '6.01% to 3.06%', 'up to 3.06%'],
      ],
      // Half a year of annual compounding earns simple interest: 1.016 times 1.016 are 1.0323.
      [
        {
          compounding: 'annual',
          term_months: 6,
          tier_method: 'marginal',
          tiers: tiers([0, 3.2, 3.23], [1_000, 3.201, 3.23]),
        },
        ['3.23%', '3.23%'],
      ],
      [
        {
          ...daily,
          tiers: tiers([0, 3, 4]),
          steps: [
            { from_month: 1, rate: 3 },
            { from_month: 13, rate: 5 },
          ],
        },
        ['3.00%', '5.00%'],
      ],
      [{ ...daily, tiers: tiers([0, 4, 4.5]), introductory: { rate: 5, months: 6 } }, []],
    ] as const;
    const requirement = 'Deposit $100 within 15 days and keep it for 90 days';
    const bonus = { amount: 50, requirement, days: 5, minimum_deposit: 100, paid_within_days: 30 };
    const { page } = await pages.openOffers(t, {
      vertical: verticalOf('banking'),
      fields: sampleBorrowers.banking!,
      change: (json) => {
        json.offers = accounts.map(([deposit], at) => ({
          ...json.offers[at % json.offers.length],
          deposit: { ...deposit, bonus },
        }));
      },
    });
    const shown = await offerCards(page).evaluateAll((cards) =>
      cards.map((card) =>
        [...card.querySelectorAll('tr td:last-child')].map(({ textContent }) => textContent as string),
      ),
    );
    assert.deepEqual(
      shown,
      accounts.map(([, yields]) => yields),
    );
    const notes = await page.locator('.bonus .note').allTextContents();
    assert.deepEqual(
      new Set(notes),
      new Set([
        `${requirement}; to be met within 5 days of opening; for a deposit of $100 or more; paid within 30 days after that`,
      ]),
    );
    const introductory = page.getByText('5.00% for the first 6 months. The APY includes it.');
    assert.equal(await introductory.count(), 1);
  });

  for (const segment of ['credit-cards', 'banking', 'find-advisor']) {
    test(`${segment}: two offers of one lender have different headings, and their links have different names`, async (t) => {
      const { page } = await pages.openOffers(t, {
        vertical: verticalOf(segment),
        fields: sampleBorrowers[segment]!,
        change: (json) => {
          const { lender_name } = json.offers[0];
          json.offers = json.offers.slice(0, 2).map((offer: Offer) => ({ ...offer, lender_name }));
        },
      });
      const names = await offerCards(page)
        .locator('h3, .go, summary, .terms')
        .evaluateAll((nodes) => nodes.map(({ className, textContent }) => `${className} ${textContent}`));
      assert.equal(names.length, 8);
      assert.equal(new Set(names).size, 8, names.join());
    });
  }

  test('a negative first-year value is shown with a minus sign', async (t) => {
    const vertical = verticalOf('credit-cards');
    const fields = { ...sampleBorrowers['credit-cards'], card_purpose: 'low_interest', carried_balance: 20_000 };
    const { page, offers } = await openWidget(t, vertical, { ...fields, monthly_spend: 0 });
    const values = offers.map(({ card }) => card!.first_year_value as number);
    assert.ok(
      values.some((value) => value < 0),
      values.join(),
    );
    const shown = await page.locator('.first-year .value').allTextContents();
    assert.deepEqual(shown, values.map(cents));
  });

  test('every rate and payment of an insured adjustable mortgage is on the card, as large as the first rate', async (t) => {
    const vertical = verticalOf('mortgage');
    const fields = { ...sampleBorrowers.mortgage, rate_type: 'adjustable', down_payment: 20_000 };
    const { page, offers } = await openWidget(t, vertical, fields);
    const periods = offers.map(({ mortgage }) => mortgage!.adjustable.payments as readonly Figures[]);
    assert.ok(periods.every((list) => list.length > 2));
    const cards = await offerCards(page).evaluateAll((nodes) =>
      nodes.map((card) =>
        [...card.querySelectorAll('.lead .value')].map((value) => [
          value.textContent as string,
          value.ownerDocument.defaultView.getComputedStyle(value).fontSize as string,
        ]),
      ),
    );
    for (const [at, leads] of cards.entries()) {
      const [first, ...later] = periods[at]!;
      const [shownRate, , shownPayment, ...shownLater] = leads.map(([text]) => text);
      assert.deepEqual([shownRate, shownPayment], [rate(first!.rate), `${cents(first!.payment)}/month`]);
      assert.deepEqual(
        shownLater,
        later.map((period) => `${rate(period.rate)}, ${cents(period.payment)}/month`),
      );
      assert.equal(new Set(leads.map(([, size]) => size)).size, 1);
    }
    mkdirSync(artefacts, { recursive: true });
    for (const width of screenWidths) {
      await page.setViewportSize({ width, height: 800 });
      await page.screenshot({ path: `${artefacts}mortgage-adjustable-${width}.png`, fullPage: true });
      await assertNoOverflow(page);
    }
  });

  test('a secured card shows both deposits, and a card without a largest deposit shows the smallest', async (t) => {
    const { page } = await pages.openOffers(t, {
      vertical: verticalOf('credit-cards'),
      fields: sampleBorrowers['credit-cards']!,
      change: ({ offers }) => {
        offers.splice(2);
        Object.assign(offers[0].card, { security_deposit_min: 200, security_deposit_max: 2_500, variable: null });
        Object.assign(offers[1].card, { security_deposit_min: 49.5, security_deposit_max: null });
      },
    });
    assert.deepEqual(await page.locator('.security-deposit .value').allTextContents(), [
      '$200 to $2,500',
      '$49.50 or more',
    ]);
    assert.equal(await offerCards(page).first().locator('.apr .note').count(), 0);
  });

  test('what an advisor pays is on the card beside the offer, without opening anything and no smaller than the fees', async (t) => {
    const vertical = verticalOf('find-advisor');
    for (const advice_topic of ['retirement', 'insurance']) {
      const fields = { ...sampleBorrowers['find-advisor'], advice_topic };
      const { page, offers } = await openWidget(t, vertical, fields);
      assert.equal(await page.locator('details[open]').count(), 0);
      for (const width of screenWidths) {
        await page.setViewportSize({ width, height: 800 });
        const shown = await offerCards(page).evaluateAll((cards) =>
          cards.map((card) => {
            const sizeOf = (node: { ownerDocument: { defaultView: { getComputedStyle: CallableFunction } } }) =>
              node.ownerDocument.defaultView.getComputedStyle(node).fontSize as string;
            const text = card.querySelector('.payment-note .value');
            return {
              text: text.textContent as string,
              isVisible: text.checkVisibility({ opacityProperty: true, visibilityProperty: true }) as boolean,
              isBehindLink: text.closest('a, details') !== null,
              isAsLarge: sizeOf(text) === sizeOf(card.querySelector('.minimum .value')),
            };
          }),
        );
        assert.deepEqual(
          shown,
          offers.map(({ compensation_disclosure: text }) => ({
            text,
            isVisible: true,
            isBehindLink: false,
            isAsLarge: true,
          })),
        );
      }
    }
  });

  test('mortgages cannot be sorted by revenue, even if the script element requests it', async (t) => {
    const vertical = verticalOf('mortgage');
    const { page, html } = await pages.prepare(t, { vertical, fields: sampleBorrowers.mortgage! });
    const errors = collectErrors(page);
    await page.goto(pages.url(html.replace('data-sort="recommended"', 'data-sort="svc_revenue"')));
    await eventually(
      async () => errors,
      ['Offers widget: data-sort="svc_revenue" is not available for data-vertical="mortgage".'],
    );
    assert.equal(await page.locator('.panel').count(), 0);
  });

  test('embed code without a vertical shows loans, and custom verticals get general texts', async (t) => {
    const personalLoans = await pages.widget({ fields: sampleBorrowers['personal-loans']! });
    const leases = await pages.widget({ vertical: equipmentLeases, fields: equipmentLeasesFixture.complete });
    assert.ok(leases.html.includes(` data-vertical="${equipmentLeases.segment}"`));
    const withoutVertical = personalLoans.html.replace(' data-vertical="personal-loans"', '');
    assert.notEqual(withoutVertical, personalLoans.html);
    for (const [html, title, disclosure] of [
      [withoutVertical, 'Your loan offers', 'Lenders pay us'],
      [leases.html, 'Your offers', 'Providers pay us'],
    ] as const) {
      const page = await pages.open(t, html);
      await offerLink(page).waitFor();
      assert.equal(await page.locator('.title').textContent(), title);
      assert.ok((await page.locator('.disclosure-text').textContent())!.includes(disclosure));
      assert.match((await page.locator('.count').textContent())!, /for \$1[05],000$/);
      assert.match((await offerCards(page).first().textContent())!, /\$[\d,.]+\/month for \$1[05],000 over \d+ months/);
    }
  });

  test('a borrower without matching offers gets advice about the product', async (t) => {
    const vertical = verticalOf('banking');
    const { page, url } = await pages.prepare(t, { vertical, fields: sampleBorrowers.banking! });
    await changeOffers(page, (json) => Object.assign(json, { offers: [], total_offers: 0 }));
    await page.goto(url);
    await messageTitle(page, 'No offers match right now').waitFor();
    assert.match((await page.locator('.message').textContent())!, /None of our banks and credit unions/);
  });
});
