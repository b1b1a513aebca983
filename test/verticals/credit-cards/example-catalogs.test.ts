import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { getChoiceValues } from '../../../src/domain/field-vector.ts';
import { meetsStateMinimumAge } from '../../../src/matching/match-tables.ts';
import { computeCardStatistics } from '../../../src/verticals/credit-cards/catalog-statistics.ts';
import { creditCards } from '../../../src/verticals/credit-cards/credit-cards.ts';
import type { AprRange, CardCatalog, CardOffer } from '../../../src/verticals/credit-cards/offer-schema.ts';
import { rankCards } from '../../../src/verticals/credit-cards/rank-cards.ts';
import { idsOf } from '../../matching/priced-rankings.ts';
import { seededRandom } from '../../support/random-catalog.ts';
import { listOffers, readBuiltInCatalog } from '../built-in-catalogs.ts';
import { cardBorrowerOf, compileCards, goodCardBorrower, randomCardBorrower, today } from './card-fixtures.ts';

const purposes = getChoiceValues(creditCards, 'card_purpose');
const bandNames = getChoiceValues(creditCards, 'credit_score_range');

/** Asserts that the names of an issuer's cards are unique, and that each disclosure names its card and its issuer. */
function assertNamesAgree({ lenders }: CardCatalog): void {
  for (const { name: issuer, offers } of lenders) {
    assert.equal(new Set(offers.map(({ name }) => name)).size, offers.length, issuer);
    for (const { legal, name } of offers) {
      assert.ok(legal.includes(` ${name} card `) && legal.includes(issuer), `${issuer}: ${name}`);
    }
  }
}

/** Values of the conditional fields, which fit every purpose. */
const amounts = { monthly_spend: 1_500, transfer_amount: 5_000, carried_balance: 2_000 };

/** Statements with figures in the disclosures of the example catalog. */
const statements = {
  intro: /([\d.]+)% introductory APR on (purchases and balance transfers|purchases|transfers) for (\d+) months/g,
  apr: /(?:([\d.]+)% to )?([\d.]+)%( variable)? APR(?: on (purchases|transfers))?/g,
  annualFee: /No annual fee|Annual fee: (?:\$(\d+) in the first year, then )?\$(\d+)/g,
  transferFee: /No balance transfer fee|Balance transfer fee: (\d+)% of each transfer, at least \$(\d+)/g,
  bonus: /bonus of \$([\d,]+) after \$([\d,]+) in purchases within (\d+) months/g,
  deposit: /security deposit of \$(\d+) to \$([\d,]+) is/g,
  date: /Terms as of (\w+ \d+, \d+)/g,
  ageOfIndependentIncome: /under 21/g,
} as const;

/** Returns the figures that a disclosure states, in the form of the members of an offer; undefined for figures that it does not state. */
function parseDisclosure(legal: string) {
  const find = (name: keyof typeof statements) => [...legal.matchAll(statements[name])];
  const number = (text: string | undefined) => Number(text?.replaceAll(',', '') ?? 0);
  const aprOf = (kind: string) => {
    const [, min, max] = find('apr').find(([, , , , named = kind]) => named === kind)!;
    return { min: number(min ?? max), max: number(max) };
  };
  const introOf = (kind: string) =>
    find('intro')
      .filter(([, , kinds]) => kinds!.includes(kind))
      .map(([, percent, , months]) => ({ percent: number(percent), months: number(months) }))[0];
  const [, firstFee, fee] = find('annualFee')[0]!;
  return {
    purchase_apr: aprOf('purchases'),
    transfer_apr: aprOf('transfers'),
    intro_purchase_apr: introOf('purchases'),
    intro_transfer_apr: introOf('transfers'),
    annual_fees: [number(firstFee ?? fee), number(fee)],
    transfer_fee: find('transferFee').map(([, percent, min]) => ({ percent: number(percent), min: number(min) }))[0],
    bonus: find('bonus').map(([, value, spend, months]) => ({
      value: number(value),
      spend: number(spend),
      months: number(months),
    }))[0],
    deposits: find('deposit').map(([, min, max]) => [number(min), number(max)])[0],
    variable: find('apr').some(([, , , variable]) => variable !== undefined),
    as_of: find('date').map(([, date]) => date)[0],
    otherNumbers: Object.values(statements)
      .reduce((text, statement) => text.replaceAll(statement, ''), legal)
      .match(/\d+/g),
  };
}

/** Returns the range from the lowest to the highest rate of all bands. */
function mergeRanges(ranges: readonly AprRange[]): AprRange {
  return { min: Math.min(...ranges.map(({ min }) => min)), max: Math.max(...ranges.map(({ max }) => max)) };
}

function expectedDisclosure(offer: CardOffer) {
  const { annual_fee, annual_fee_first_year = annual_fee, intro_transfer_apr, transfer_fee } = offer;
  const bands = Object.values(offer.bands);
  return {
    purchase_apr: mergeRanges(bands.map(({ purchase_apr }) => purchase_apr)),
    transfer_apr: mergeRanges(bands.map(({ purchase_apr, transfer_apr = purchase_apr }) => transfer_apr)),
    intro_purchase_apr: offer.intro_purchase_apr,
    intro_transfer_apr,
    annual_fees: [annual_fee_first_year, annual_fee],
    // An introductory rate for transfers is stated with the fee for transfers.
    transfer_fee: intro_transfer_apr !== undefined || transfer_fee.percent === 0 ? transfer_fee : undefined,
    bonus: offer.bonus,
    deposits: offer.security_deposit_min && [offer.security_deposit_min, offer.security_deposit_max],
    variable: offer.variable,
    as_of: new Date(offer.as_of).toLocaleDateString('en-US', { timeZone: 'UTC', dateStyle: 'long' }),
    otherNumbers: null,
  };
}

describe('the example catalog of credit cards', () => {
  const catalog = readBuiltInCatalog<CardCatalog>(creditCards, 'example');
  const compiled = compileCards(catalog);
  const totalFor = (fields: object) =>
    rankCards(compiled.tables, cardBorrowerOf({ ...goodCardBorrower, ...amounts, ...fields }), today, null).total;

  test('has at least 46 cards of 16 issuers, at least six for each purpose', () => {
    const offers = listOffers(catalog);
    assert.ok(offers.length >= 46 && catalog.lenders.length >= 16);
    for (const purpose of purposes) {
      assert.ok(offers.filter((offer) => offer.purposes.includes(purpose)).length >= 6, purpose);
    }
    assert.ok(offers.filter(({ security_deposit_min }) => security_deposit_min !== undefined).length >= 4);
  });

  test('the documentation states the ranges of the figures for which it names a source', () => {
    const document = readFileSync(new URL('../../../docs/verticals/credit-cards.md', import.meta.url), 'utf8');
    const rangeOf = (figures: readonly (number | undefined)[]) => {
      const known = figures.filter((figure) => figure !== undefined);
      return `${Math.min(...known).toLocaleString('en-US')} to ${Math.max(...known).toLocaleString('en-US')}`;
    };
    const offersFor = (purpose: string) => listOffers(catalog).filter((offer) => offer.purposes.includes(purpose));
    const rates = (offers: readonly CardOffer[]) =>
      rangeOf(
        offers.flatMap(({ bands }) => Object.values(bands).flatMap(({ purchase_apr: { min, max } }) => [min, max])),
      );
    const secured = listOffers(catalog).filter(({ security_deposit_min }) => security_deposit_min !== undefined);
    for (const text of [
      `low-interest cards: ${rates(offersFor('low_interest'))} %`,
      `travel cards: ${rates(offersFor('travel'))} %`,
      `smallest deposits: ${rangeOf(secured.map(({ security_deposit_min }) => security_deposit_min))} USD`,
      `largest deposits: ${rangeOf(secured.map(({ security_deposit_max }) => security_deposit_max))} USD`,
      `secured cards: ${rates(secured)} %`,
      `transfer fees: ${rangeOf(listOffers(catalog).map(({ transfer_fee }) => transfer_fee.percent))} %`,
      `introductory transfer periods: ${rangeOf(listOffers(catalog).map((offer) => offer.intro_transfer_apr?.months))} months`,
      `cash-back bonuses: ${rangeOf(offersFor('cash_back').map(({ bonus }) => bonus?.value))} USD`,
      `travel bonuses: ${rangeOf(offersFor('travel').map(({ bonus }) => bonus?.value))} USD`,
      `late fees: ${rangeOf(listOffers(catalog).map(({ late_fee_max }) => late_fee_max))} USD`,
    ]) {
      assert.ok(document.includes(text), text);
    }
  });

  test('all cards of an issuer have different names, and each disclosure has the name of its card', () => {
    assertNamesAgree(catalog);
  });

  test('all figures that a disclosure states agree with the offer', () => {
    for (const offer of listOffers(catalog)) {
      assert.deepEqual(parseDisclosure(offer.legal), expectedDisclosure(offer), offer.id);
    }
  });

  test('the approval likelihood of a card rises with the credit band', () => {
    for (const { id, bands } of listOffers(catalog)) {
      const rising = bandNames.flatMap((name) => bands[name]?.approval_likelihood ?? []);
      assert.deepEqual(rising, [...new Set(rising)].sort(), id);
    }
  });

  test('in each band, secured cards have the highest approval likelihoods, and cards with a high fee have low ones', () => {
    for (const band of bandNames) {
      const likelihoods = (isOfKind: (offer: CardOffer) => boolean) =>
        listOffers(catalog)
          .filter(isOfKind)
          .flatMap(({ bands }) => bands[band]?.approval_likelihood ?? []);
      const secured = likelihoods(({ security_deposit_min }) => security_deposit_min !== undefined);
      const costly = likelihoods(
        ({ annual_fee, purposes: served }) => annual_fee >= 95 && !served.includes('build_credit'),
      );
      const others = likelihoods(({ annual_fee, security_deposit_min: deposit }) => annual_fee < 95 && !deposit);
      assert.ok(Math.min(...secured) > Math.max(...others), band);
      assert.ok(Math.max(...costly) < others.reduce((sum, value) => sum + value, 0) / others.length, band);
    }
  });

  test('no condition on a choice field lists all its values', () => {
    for (const { id, criteria } of listOffers(catalog)) {
      for (const criterion of criteria.filter((each) => each.in !== undefined)) {
        assert.ok(criterion.in!.length < getChoiceValues(creditCards, criterion.field).length, id);
      }
    }
  });

  test('no card has a tag that contradicts its disclosure or its fees', () => {
    for (const { id, features, legal, annual_fee, annual_fee_first_year, security_deposit_min } of listOffers(
      catalog,
    )) {
      const has = (tag: string) => features.includes(tag);
      assert.ok(!has('no_credit_check') || !legal.includes('Subject to credit approval'), id);
      assert.equal(has('no_annual_fee'), annual_fee === 0, id);
      assert.equal(has('fee_waived_first_year'), annual_fee > 0 && annual_fee_first_year === 0, id);
      assert.equal(has('secured'), security_deposit_min !== undefined, id);
    }
  });

  test('credit unions charge at most 18 %, the highest rate that federal credit unions may charge', () => {
    for (const { name, offers } of catalog.lenders.filter((lender) => /Credit Union/.test(lender.name))) {
      for (const { bands, cash_advance_apr, penalty_apr = 0 } of offers) {
        const rates = Object.values(bands).map(({ purchase_apr }) => purchase_apr.max);
        assert.ok(Math.max(...rates, cash_advance_apr, penalty_apr) <= 18, name);
      }
    }
  });

  test('a borrower with good credit gets at least five cards for each purpose', () => {
    for (const card_purpose of ['cash_back', 'travel', 'balance_transfer', 'low_interest']) {
      for (const state of ['CA', 'TX', 'NY', 'OH']) {
        assert.ok(totalFor({ card_purpose, state }) >= 5, `${card_purpose} in ${state}`);
      }
    }
  });

  test('the purposes build_credit and student have at least three cards for a borrower with bad credit', () => {
    for (const card_purpose of ['build_credit', 'student']) {
      for (const credit_score_range of ['300-579', '580-619', '620-659']) {
        const small = { transfer_amount: 500, carried_balance: 500 };
        const total = totalFor({ card_purpose, credit_score_range, annual_income: 12_000, ...small });
        assert.ok(total >= 3, `${card_purpose} ${credit_score_range}: ${total}`);
      }
    }
    assert.ok(totalFor({ card_purpose: 'travel', credit_score_range: '300-579' }) <= 1);
  });

  test('the statistics count the cards for each purpose', () => {
    const { coverage, groups, payouts, using } = computeCardStatistics(catalog, creditCards);
    const offers = listOffers(catalog);
    const covered = coverage.find(({ field }) => field === 'card_purpose')!.offers;
    for (const purpose of purposes) {
      assert.equal(covered[purpose], offers.filter((offer) => offer.purposes.includes(purpose)).length);
    }
    const best = groups.at(-1)!;
    assert.equal(best.offers, offers.filter(({ bands }) => bands['800+'] !== undefined).length);
    assert.ok(best.figures.purchase_apr_percent!.min < 12 && best.figures.purchase_apr_percent!.max < 36);
    assert.equal(payouts.cost_per_click.offers, offers.length);
    assert.equal(using.annual_fee, offers.filter(({ annual_fee }) => annual_fee > 0).length);
  });
});

describe('the sandbox catalog of credit cards', () => {
  const catalog = readBuiltInCatalog<CardCatalog>(creditCards, 'sandbox');
  const compiled = compileCards(catalog);

  test('has 8 to 12 cards', () => {
    assert.ok(listOffers(catalog).length >= 8 && listOffers(catalog).length <= 12);
  });

  test('the disclosures contain the names of the cards and issuers', () => {
    assertNamesAgree(catalog);
  });

  test('pays different amounts for its cards, so that partners can see the order svc_revenue', () => {
    const offers = listOffers(catalog);
    assert.equal(new Set(offers.map(({ payout_usd }) => payout_usd)).size, offers.length);
    const { orders } = rankCards(compiled.tables, cardBorrowerOf(goodCardBorrower), today, null);
    const ids = idsOf(compiled, orders);
    const [recommended, lowestApr, highestAmount, revenue] = [0, 1, 2, 3].map((order) =>
      ids.slice((order * ids.length) / 4, ((order + 1) * ids.length) / 4).join(),
    );
    assert.ok(![recommended, lowestApr, highestAmount].includes(revenue), revenue);
  });

  test('has at least four unsecured cards for every adult borrower with the required fields', () => {
    const random = seededRandom(11);
    for (let i = 0; i < 1_000; i++) {
      const borrower = randomCardBorrower(random, i % 2);
      const { total } = rankCards(compiled.tables, borrower, today, null);
      if (meetsStateMinimumAge(compiled.tables, borrower, today)) assert.ok(total >= 4, `${total}`);
      else assert.equal(total, 0);
    }
  });

  for (const [id, shown, hidden] of [
    ['sandbox-echo', { transfer_amount: 2_500 }, { transfer_amount: 2_501 }],
    ['sandbox-bravo', {}, { annual_fee_accepted: false }],
    ['sandbox-lima-fee-550', { annual_fee_accepted: true }, { annual_fee_accepted: false }],
    ['sandbox-golf-age-21', { state: 'MS', birthdate: '2005-08-01' }, { state: 'MS' }],
    ['sandbox-hotel-income-60000', { annual_income: 60_000 }, { annual_income: 59_999 }],
    ['sandbox-india-california', {}, { state: 'NV' }],
    ['sandbox-juliett-citizen', { citizenship_status: 'citizen' }, {}],
    ['sandbox-kilo-score-700', { credit_score_range: '700-749' }, { credit_score_range: '660-699' }],
  ] as const) {
    test(`the sandbox card ${id} is available only to borrowers who meet its condition`, () => {
      const offer = compiled.findOfferIndex(id);
      const isShown = (fields: object) => {
        const borrower = cardBorrowerOf({ ...goodCardBorrower, ...fields });
        return rankCards(compiled.tables, borrower, today, null).orders.includes(offer);
      };
      assert.deepEqual([isShown(shown), isShown(hidden)], [true, false]);
    });
  }
});
