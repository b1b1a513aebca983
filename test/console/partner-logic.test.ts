import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assignArm } from '../../src/experiments/assign-arm.ts';
import type { AnalyticsSummary, OfferAnalytics } from '../../src/web/console/common/api-types.ts';
import {
  writeArmCommand,
  writeAssignmentModule,
  writeSessionCommand,
} from '../../src/web/console/partner/assignment-code.ts';
import { findBusiestTag, parseSessionFilter, toAnalyticsQuery } from '../../src/web/console/partner/day-filter.ts';
import {
  addArm,
  createForm,
  type ExperimentForm,
  findFieldOfParam,
  findFormErrors,
  removeArm,
  toDefinition,
  toPlanRequest,
} from '../../src/web/console/partner/experiment-form.ts';
import { findBestLender, parseOfferOrder, sortLenders, sortOffers } from '../../src/web/console/partner/sort-offers.ts';

const now = '2026-11-28T23:59:59.999Z';

describe('filter of sessions', () => {
  it('covers a number of days up to today, or own dates', () => {
    const daysOf = (query: Record<string, string>) => toAnalyticsQuery(parseSessionFilter(query, now, 30));
    const today = { referrer_tag: '', date_to: null };
    assert.deepEqual(daysOf({}), { ...today, date_from: '2026-10-30' });
    assert.deepEqual(daysOf({ days: '7' }), { ...today, date_from: '2026-11-22' });
    assert.deepEqual(daysOf({ tag: 'home-a', days: '7', from: '2026-09-01', to: '2026-09-02' }), {
      referrer_tag: 'home-a',
      date_from: '2026-09-01',
      date_to: '2026-09-02',
    });
    assert.deepEqual(daysOf({ from: '2026-09-01' }), { ...today, date_from: '2026-09-01' });
  });

  it('ignores invalid values of an address', () => {
    for (const query of [
      { days: '8' },
      { days: '-1' },
      { from: 'yesterday' },
      { from: '2026-99-99' },
      { to: '2026-09-02' },
    ]) {
      assert.deepEqual(parseSessionFilter(query, now, 30), parseSessionFilter({}, now, 30));
    }
  });

  it('starts with the tag that has the most sessions', () => {
    const tags = [3, 9, 9].map((sessions_total, index) => ({ referrer_tag: `tag-${index}`, sessions_total }));
    assert.deepEqual([findBusiestTag(tags), findBusiestTag([])], ['tag-1', '']);
  });
});

describe('order of offers', () => {
  type Offer = OfferAnalytics['data'][number];
  const offer = (svc_offer_id: string, shown: number, rev_confirmed_per_click: number) =>
    ({ svc_offer_id, shown, rev_confirmed_per_click }) as Offer;
  const offers = [offer('a', 1, 2), offer('b', 5, 1), offer('c', 1, 2)];

  it('puts the largest figure first, and keeps the order of equal figures', () => {
    const ids = (order: string) => sortOffers(offers, parseOfferOrder(order)).map(({ svc_offer_id }) => svc_offer_id);
    assert.deepEqual(ids('rev_confirmed_per_click'), ['a', 'c', 'b']);
    for (const unknown of ['', 'toString', 'lender_name']) assert.deepEqual(ids(unknown), ['b', 'a', 'c']);
  });

  it('names the lender that pays most per click only with enough clicks and with revenue', () => {
    const lender = (name: string, clicks: number, perClick: number): AnalyticsSummary['top_lenders'][number] => ({
      lender: name,
      clicks,
      rev_confirmed: clicks * perClick,
      rev_confirmed_per_click: perClick,
    });
    const lenders = [lender('many', 500, 1), lender('few', 49, 90), lender('enough', 50, 2)];
    assert.equal(findBestLender(lenders)?.lender, 'enough');
    assert.deepEqual(
      sortLenders(lenders).map(({ lender: name }) => name),
      ['enough', 'many', 'few'],
    );
    assert.equal(findBestLender([lender('none', 500, 0)]), null);
    assert.deepEqual([findBestLender([]), findBestLender([lender('few', 49, 90)])], [null, null]);
  });
});

/** A form that the API accepts. */
function validForm(more: Partial<ExperimentForm> = {}): ExperimentForm {
  const form = createForm(now);
  const arms = form.arms.map((arm, index) => ({ ...arm, tag: `form-${index}` }));
  return { ...form, name: 'form-length', arms, ...more };
}

describe('form of an experiment', () => {
  it('starts tomorrow and lasts six weeks', () => {
    const { startsOn, endsOn } = createForm(now);
    assert.deepEqual([startsOn, endsOn], ['2026-11-29', '2027-01-09']);
  });

  it('becomes a definition, with the first page as the control and without empty values', () => {
    assert.deepEqual(toDefinition(validForm({ minEffectPercent: ' 12,5 ', dimensions: ' campaign, ,os ' })), {
      arms: [
        { referrer_tag: 'form-0', weight: 0.5, label: null },
        { referrer_tag: 'form-1', weight: 0.5, label: null },
      ],
      control: 'form-0',
      unit: 'visitor',
      assignment: 'hash',
      starts_on: '2026-11-29',
      ends_on: '2027-01-09',
      min_effect_percent: 12.5,
      cap_usd: null,
      hypothesis: null,
      dimensions: ['campaign', 'os'],
    });
    const { assignment, ends_on } = toDefinition(validForm({ unit: 'session', endsOn: '' }));
    assert.deepEqual([assignment, ends_on], ['own', null]);
  });

  it('has shares that add up to 1 for every number of pages', () => {
    let form = validForm();
    for (let count = 2; count <= 10; count++) {
      const weights = toDefinition(form).arms.map(({ weight }) => weight);
      assert.equal(weights.length, count);
      assert.ok(Math.abs(weights.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-9, String(weights));
      form = addArm(form);
    }
    assert.equal(addArm(form).arms.length, 10);
    const two = removeArm(addArm(validForm()), 1);
    assert.deepEqual(
      two.arms.map(({ tag, share }) => [tag, share]),
      [
        ['form-0', '50'],
        ['', '50'],
      ],
    );
  });

  it('finds texts that are no numbers, and names and tags that are missing', () => {
    const arms = [
      { tag: 'form-0', label: '', share: 'half' },
      { tag: 'Form 1', label: '', share: '50' },
    ];
    const errors = findFormErrors(
      validForm({ name: '', arms, minEffectPercent: '1e1', capUsd: '-5', sessionsPerDay: 'x' }),
    );
    assert.deepEqual(Object.keys(errors).sort(), [
      'arms',
      'capUsd',
      'minEffectPercent',
      'name',
      'sessionsPerDay',
      'shares',
    ]);
    assert.match(errors.arms!, /^Tag of page 2:/);
    assert.deepEqual(findFormErrors(validForm({ minEffectPercent: '', capUsd: '' })), {});
  });

  it('can be planned before it has a name and tags', () => {
    const { name, body } = toPlanRequest({ ...createForm(now), sessionsPerDay: '800' }, 'home-a');
    assert.equal(name, 'new-experiment');
    assert.deepEqual(
      body.arms.map(({ referrer_tag }) => referrer_tag),
      ['new-experiment-1', 'new-experiment-2'],
    );
    assert.deepEqual(
      [body.control, body.based_on, body.expected_sessions_per_day],
      ['new-experiment-1', 'home-a', 800],
    );
  });

  it('finds the field of each member that the API can refuse', () => {
    for (const param of Object.keys(toPlanRequest(validForm(), 'home-a').body)) {
      assert.notEqual(findFieldOfParam(param), null, param);
    }
    assert.deepEqual([findFieldOfParam('weight'), findFieldOfParam('referrer_tag')], ['shares', 'arms']);
    for (const param of [null, 'cursor', 'toString']) assert.equal(findFieldOfParam(param), null);
  });
});

describe('code for an experiment', () => {
  const weights = [0.5, 0.3, 0.2];
  const arms = weights.map((weight, index) => ({ referrer_tag: `page-${index}`, weight, label: null }));
  const definition = { name: 'hero-test', arms, assignment: 'hash', unit: 'visitor' } as const;

  it('chooses the same page as the service', async () => {
    const module = `data:text/javascript,${encodeURIComponent(writeAssignmentModule(definition))}`;
    const { choosePage } = (await import(module)) as { choosePage(visitorId: string): string };
    const seen = new Set<string>();
    for (let visitor = 0; visitor < 200; visitor++) {
      const page = choosePage(`u${visitor}`);
      assert.equal(page, assignArm('hero-test', `u${visitor}`, arms).referrer_tag);
      seen.add(page);
    }
    assert.equal(seen.size, 3);
  });

  it('asks the service for the page, and creates a session with the id of the visitor only if the unit is the visitor', () => {
    const url = 'https://offers.example/v1/personal-loans';
    assert.match(writeArmCommand(definition, url), /personal-loans\/experiments\/hero-test\/arm\?unit_id=VISITOR_ID'/);
    assert.match(writeSessionCommand(definition, url), /-d '\{"referrer_tag":"page-0","unit_id":"VISITOR_ID"\}'/);
    assert.match(writeSessionCommand({ ...definition, unit: 'session' }, url), /-d '\{"referrer_tag":"page-0"\}'/);
  });
});
