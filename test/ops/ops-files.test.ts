import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { requestEveryRoute, Scrape, scrapeOverTls } from '../support/scrape.ts';
import { parsePromQl, type Selector } from './promql.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Target {
  readonly expr: string;
  readonly legendFormat: string;
  readonly datasource: { readonly type: string; readonly uid: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets?: readonly Target[];
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly definition?: string;
}

const alerts = (parse(read('ops/alerts.yml')) as { groups: { name: string; rules: Alert[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);
const dashboard: { readonly panels: readonly Panel[]; readonly templating: { readonly list: readonly Variable[] } } =
  JSON.parse(read('ops/grafana-dashboard.json'));
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const targets = panels.flatMap(({ title, targets: ofPanel = [] }) =>
  ofPanel.map((target) => ({ where: `panel "${title}"`, ...target })),
);

/** What the scraper adds to every series, and what only it knows. */
const targetLabels = ['job', 'instance'];
const ofScraper = 'up';

/** What is wrong with the series that an expression names, by what a service with some traffic showed. */
function faultsOf(expression: string, scrape: Scrape): string[] {
  const { fault, selectors } = parsePromQl(expression);
  if (fault !== null) return [`cannot be parsed from "${fault}" on`];
  if (selectors.length === 0) return ['looks at nothing'];
  return selectors
    .filter(({ metric }) => metric !== ofScraper)
    .flatMap((selector) => faultsOfSelector(selector, scrape));
}

function faultsOfSelector({ metric, matchers, functions, groupedBy }: Selector, scrape: Scrape): string[] {
  const samples = scrape.find(metric);
  if (samples.length === 0) return [`${metric} is in no scrape`];
  const faults: string[] = [];
  const labels = new Set([...targetLabels, ...samples.flatMap((sample) => Object.keys(sample.labels))]);
  for (const label of [...groupedBy, ...matchers.map((matcher) => matcher.label)]) {
    if (!labels.has(label)) faults.push(`${metric} has no label ${label}`);
  }
  for (const { label, operator, value } of matchers) {
    // A variable of the dashboard, a pattern, or what is to be left out.
    if (targetLabels.includes(label) || !/^=~?$/.test(operator) || !/^[\w|-]+$/.test(value)) continue;
    for (const one of value.split('|')) {
      if (!samples.some((sample) => sample.labels[label] === one)) faults.push(`${metric} has no ${label} ${one}`);
    }
  }
  const family = [...scrape.families.values()].find((each) => each.samples.includes(samples[0]!))!;
  const grows = family.type !== 'gauge';
  const byRate = functions.some((name) => name === 'rate' || name === 'increase');
  if (grows !== byRate)
    faults.push(`${metric} is a ${family.type}, looked at ${byRate ? 'by its growth' : 'as it is'}`);
  if (functions.includes('histogram_quantile') && !groupedBy.includes('le')) faults.push(`${metric} loses its le`);
  return faults;
}

/** As a heading of Markdown is linked by: `MarketplaceNotReady` as `marketplace-not-ready`. */
function kebab(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}

describe('the files for whoever runs the service', () => {
  let market: RunningMarketplace;
  let scrape: Scrape;
  before(async () => {
    market = await RunningMarketplace.start('uws');
    await requestEveryRoute(market);
    scrape = (await Scrape.of(market.operations)).joinedBy(await scrapeOverTls());
  });
  after(() => market?.close());

  test('alerts use existing series', () => {
    assert.deepEqual(
      alerts.flatMap(({ alert, expr }) => faultsOf(expr, scrape).map((fault) => `${alert}: ${fault}`)),
      [],
    );
  });

  test('alert texts use labels of their expression', () => {
    const faults = alerts.flatMap(({ alert, expr, annotations }) => {
      const { selectors } = parsePromQl(expr);
      const left = new Set(
        selectors.flatMap(({ metric, groupedBy }) =>
          groupedBy.length > 0
            ? groupedBy
            : [...targetLabels, ...scrape.find(metric).flatMap(({ labels }) => Object.keys(labels))],
        ),
      );
      return [
        ...Object.values(annotations)
          .join(' ')
          .matchAll(/\$labels\.(\w+)/g),
      ]
        .filter(([, label]) => !left.has(label!))
        .map(([, label]) => `${alert} has no ${label}`);
    });
    assert.deepEqual(faults, []);
  });

  test('panels use existing series', () => {
    assert.deepEqual(
      targets.flatMap(({ where, expr }) => faultsOf(expr, scrape).map((fault) => `${where}: ${fault}`)),
      [],
    );
  });

  test('the dashboard shows every metric', () => {
    const shown = new Set(targets.flatMap(({ expr }) => parsePromQl(expr).selectors.map(({ metric }) => metric)));
    const missing = [...scrape.families.values()]
      .filter(({ samples, name }) => !shown.has(name) && !samples.some((sample) => shown.has(sample.name)))
      .map(({ name }) => name);
    assert.deepEqual(missing, []);
  });

  test('the check finds invalid expressions', () => {
    for (const [expression, fault] of [
      ['marketplace_redy == 0', /in no scrape/],
      ['sum by (path) (rate(marketplace_requests_total[5m]))', /no label path/],
      ['rate(marketplace_requests_total{route="sesion"}[5m])', /no route sesion/],
      ['marketplace_requests_total > 5', /looked at as it is/],
      ['rate(marketplace_live_sessions[5m])', /looked at by its growth/],
      ['histogram_quantile(0.9, sum(rate(marketplace_request_duration_seconds_bucket[5m])))', /loses its le/],
      ['sum(rate(marketplace_requests_total[5m])', /cannot be parsed/],
    ] as const) {
      assert.match(faultsOf(expression, scrape).join(), fault, expression);
    }
  });
});

test('every alert has a unique name, severity, summary, description and runbook', () => {
  assert.equal(new Set(alerts.map(({ alert }) => alert)).size, alerts.length);
  for (const { alert, labels, annotations } of alerts) {
    assert.match(alert, /^Marketplace([A-Z][a-z]+)+$/);
    assert.match(labels.severity!, /^(critical|warning)$/, alert);
    assert.deepEqual(Object.keys(annotations), ['summary', 'description', 'runbook'], alert);
    assert.doesNotMatch(annotations.summary!, /\.$/, alert);
    assert.match(annotations.description!, /\.$/, alert);
    assert.equal(annotations.runbook, `docs/operating.md#${kebab(alert)}`, alert);
  }
});

test('every alert has a section in the operating guide', () => {
  const sections = [...read('docs/operating.md').matchAll(/^#+ (.+)\n\n`(\w+)`: /gm)].map(
    ([, heading, name]) => `${name}: ${heading!.toLowerCase().replaceAll(' ', '-')}`,
  );
  assert.deepEqual(
    alerts.map(({ alert }) => `${alert}: ${kebab(alert)}`).filter((section) => !sections.includes(section)),
    [],
  );
});

test('panels use the selected data source, have a title and do not overlap', () => {
  const variables = new Set(dashboard.templating.list.map(({ name }) => name));
  assert.equal(dashboard.templating.list.find(({ name }) => name === 'datasource')?.type, 'datasource');
  assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
  for (const { title, description, datasource, targets: ofPanel = [] } of panels) {
    assert.ok(title !== '' && description !== undefined && description.endsWith('.'), title);
    for (const { uid, type } of [datasource!, ...ofPanel.map((target) => target.datasource)]) {
      assert.equal(type, 'prometheus', title);
      assert.match(uid, /^\$\{datasource\}$/, title);
    }
    for (const { expr } of ofPanel) {
      // Of the services chosen, and no others.
      const chosen = expr.match(/\{[^}]*job=~"\$job",instance=~"\$instance"\}/g) ?? [];
      assert.equal(chosen.length, parsePromQl(expr).selectors.length, `${title}: ${expr}`);
      for (const [, name] of expr.matchAll(/\$(?!__)(\w+)/g)) assert.ok(variables.has(name!), `${title}: $${name}`);
    }
  }
  const places = new Map<string, string>();
  for (const { title, gridPos } of dashboard.panels) {
    assert.ok(gridPos.x + gridPos.w <= 24, title);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        assert.equal(places.get(`${x} ${y}`), undefined, `${title} and ${places.get(`${x} ${y}`)}`);
        places.set(`${x} ${y}`, title);
      }
    }
  }
});
