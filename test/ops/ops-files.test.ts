import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { publicRouteNames } from '../../src/http/routes/routing.ts';
import { createMarketplace, type Marketplace } from '../../src/index.ts';
import { eventLogNames } from '../../src/metrics/gauges.ts';
import { HttpClient } from '../support/http-client.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { requestEveryRoute, Scrape } from '../support/scrape.ts';
import { createSelfSignedCertificate, writeCertificate } from '../support/self-signed.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const operationsPage = read('docs/operations-api.md');

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface DataSource {
  readonly type: string;
  readonly uid: string;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: DataSource;
  readonly targets?: readonly { readonly expr: string; readonly datasource: DataSource }[];
}

const alerts = (parse(read('ops/alerts.yml')) as { groups: { name: string; rules: Alert[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);
const dashboard: {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { name: string; type: string }[] };
} = JSON.parse(read('ops/grafana-dashboard.json'));
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const targets = panels.flatMap(({ title, targets: ofPanel = [] }) =>
  ofPanel.map((target) => ({ where: `panel "${title}"`, ...target })),
);

/** A series in an expression. */
interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
  /** Functions that contain the series, innermost first. */
  readonly functions: readonly string[];
  /** Labels by which the expression groups or joins the series. */
  readonly groupedBy: readonly string[];
}

/**
 * Parses a PromQL expression. Replaces Grafana's variables of time spans. Returns its series and, after a syntax error, the text from the
 * error on.
 */
function parsePromQl(expression: string): { readonly fault: string | null; readonly selectors: readonly Selector[] } {
  const text = expression.replaceAll(/\$__(rate_interval|range|interval)\b/g, '5m');
  let fault: string | null = null;
  const selectors: Selector[] = [];
  const textOf = (part: { readonly from: number; readonly to: number } | null): string =>
    part === null ? '' : text.slice(part.from, part.to);
  parser.parse(text).iterate({
    enter({ type, node }) {
      if (type.isError) fault ??= text.slice(node.from);
      if (type.name !== 'VectorSelector') return;
      const functions: string[] = [];
      const groupedBy: string[] = [];
      for (let around = node.parent; around !== null; around = around.parent) {
        if (around.name === 'FunctionCall') functions.push(textOf(around.getChild('FunctionIdentifier')));
        for (const modifier of [around.getChild('AggregateModifier'), around.getChild('MatchingModifierClause')]) {
          for (const labels of modifier?.getChildren('GroupingLabels') ?? []) {
            groupedBy.push(...labels.getChildren('LabelName').map(textOf));
          }
        }
      }
      const matchers = (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map((matcher) => ({
        label: textOf(matcher.getChild('LabelName')),
        operator: textOf(matcher.getChild('MatchOp')),
        value: textOf(matcher.getChild('StringLiteral')).slice(1, -1),
      }));
      selectors.push({ metric: textOf(node.getChild('Identifier')), matchers, functions, groupedBy });
    },
  });
  return { fault, selectors };
}

/** Labels that Prometheus adds to every series, and the series that only Prometheus has. */
const targetLabels = ['job', 'instance'];
const prometheusSeries = 'up';

/** Returns the errors in the series of an expression, compared with the metrics of a service with some traffic. */
function findFaults(expression: string, scrape: Scrape): string[] {
  const { fault, selectors } = parsePromQl(expression);
  if (fault !== null) return [`cannot be parsed from "${fault}" on`];
  if (selectors.length === 0) return ['has no series'];
  return selectors
    .filter(({ metric }) => metric !== prometheusSeries)
    .flatMap((selector) => findSelectorFaults(selector, scrape));
}

function findSelectorFaults({ metric, matchers, functions, groupedBy }: Selector, scrape: Scrape): string[] {
  const samples = scrape.find(metric);
  if (samples.length === 0) return [`${metric} is in no scrape`];
  const faults: string[] = [];
  const labels = new Set([...targetLabels, ...samples.flatMap((sample) => Object.keys(sample.labels))]);
  for (const label of [...groupedBy, ...matchers.map((matcher) => matcher.label)]) {
    if (!labels.has(label)) faults.push(`${metric} has no label ${label}`);
  }
  for (const { label, operator, value } of matchers) {
    // Skips variables of the dashboard, patterns and negated matchers.
    if (targetLabels.includes(label) || !/^=~?$/.test(operator) || !/^[\w|-]+$/.test(value)) continue;
    for (const one of value.split('|')) {
      if (!samples.some((sample) => sample.labels[label] === one)) faults.push(`${metric} has no ${label} ${one}`);
    }
  }
  const family = [...scrape.families.values()].find((each) => each.samples.includes(samples[0]!))!;
  const grows = family.type !== 'gauge';
  const byRate = functions.some((name) => name === 'rate' || name === 'increase');
  if (grows !== byRate)
    faults.push(`${metric} is a ${family.type}, used ${byRate ? 'as a counter' : 'without a rate'}`);
  if (functions.includes('histogram_quantile') && !groupedBy.includes('le')) faults.push(`${metric} loses its le`);
  return faults;
}

/** Returns the anchor of a heading: `marketplace-not-ready` for `MarketplaceNotReady`. */
function kebab(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}

describe('alerts, dashboard and documented metrics', () => {
  let market: RunningMarketplace;
  /** A service whose public listener uses TLS, which has more metrics. */
  let secured: Marketplace;
  let scrape: Scrape;
  before(async () => {
    market = await RunningMarketplace.start('uws');
    await requestEveryRoute(market);
    const tls = writeCertificate(market.folder, createSelfSignedCertificate('metrics.test'));
    secured = await createMarketplace({ dataDir: join(market.folder, 'secured'), listen: { tls } });
    const overTls = await Scrape.of(new HttpClient(secured.ports!.operations, false));
    scrape = (await Scrape.of(market.operations)).withMissingSamplesOf(overTls);
  });
  after(async () => {
    await secured?.close();
    await market?.close();
  });

  test('alert expressions and dashboard panels use existing metrics and labels', () => {
    const expressions = [...alerts.map(({ alert, expr }) => ({ where: alert, expr })), ...targets];
    assert.deepEqual(
      expressions.flatMap(({ where, expr }) => findFaults(expr, scrape).map((fault) => `${where}: ${fault}`)),
      [],
    );
  });

  test('alert texts contain only labels that the alert expression returns', () => {
    const faults = alerts.flatMap(({ alert, expr, annotations }) => {
      const { selectors } = parsePromQl(expr);
      const labelsLeft = new Set(
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
        .filter(([, label]) => !labelsLeft.has(label!))
        .map(([, label]) => `${alert} has no ${label}`);
    });
    assert.deepEqual(faults, []);
  });

  test('the dashboard shows every metric', () => {
    const shown = new Set(targets.flatMap(({ expr }) => parsePromQl(expr).selectors.map(({ metric }) => metric)));
    const missing = [...scrape.families.values()]
      .filter(({ samples, name }) => !shown.has(name) && !samples.some((sample) => shown.has(sample.name)))
      .map(({ name }) => name);
    assert.deepEqual(missing, []);
  });

  test('docs/operations-api.md lists exactly the metrics of a scrape, with their types and labels', async () => {
    const shown = [...scrape.families.values()].map(({ name, type, samples }) => {
      const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
      labels.delete('le');
      return `${name}, ${type}: ${[...labels].sort().join(' ')}`;
    });
    const rows = operationsPage.matchAll(/^\| `([a-z_]+)` \| (counter|gauge|histogram) \|([^|]*)\|/gm);
    const documented = [...rows]
      // Only the supervisor of several shards has these metrics.
      .filter(([, name]) => !name!.startsWith('marketplace_shard_'))
      .map(
        ([, name, type, labels]) =>
          `${name}, ${type}: ${labels!.trim().replaceAll('`', '').split(', ').sort().join(' ')}`,
      );
    assert.deepEqual(documented.sort(), shown.sort());
  });

  test('docs/operations-api.md lists every label value', async () => {
    const values = ['limit', 'reason', 'kind'].flatMap((label) =>
      scrape.samples.flatMap(({ labels }) => labels[label] ?? []),
    );
    for (const value of [...values, ...publicRouteNames, ...eventLogNames])
      assert.ok(operationsPage.includes(`\`${value}\``), value);
  });
});

test('every alert has a unique name, severity, summary, description and a section in the operating guide', () => {
  const sections = [...read('docs/operating.md').matchAll(/^#+ (.+)\n\n`(\w+)`: /gm)].map(
    ([, heading, name]) => `${name}: ${heading!.toLowerCase().replaceAll(' ', '-')}`,
  );
  assert.equal(new Set(alerts.map(({ alert }) => alert)).size, alerts.length);
  for (const { alert, labels, annotations } of alerts) {
    assert.match(alert, /^Marketplace([A-Z][a-z]+)+$/);
    assert.match(labels.severity!, /^(critical|warning)$/, alert);
    assert.deepEqual(Object.keys(annotations), ['summary', 'description', 'runbook'], alert);
    assert.doesNotMatch(annotations.summary!, /\.$/, alert);
    assert.match(annotations.description!, /\.$/, alert);
    assert.equal(annotations.runbook, `docs/operating.md#${kebab(alert)}`, alert);
    assert.ok(sections.includes(`${alert}: ${kebab(alert)}`), alert);
  }
});

test('dashboard panels use the selected data source, and have a title and a description', () => {
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
      // Every series is limited to the selected services.
      const chosen = expr.match(/\{[^}]*job=~"\$job",instance=~"\$instance"\}/g) ?? [];
      assert.equal(chosen.length, parsePromQl(expr).selectors.length, `${title}: ${expr}`);
      for (const [, name] of expr.matchAll(/\$(?!__)(\w+)/g)) assert.ok(variables.has(name!), `${title}: $${name}`);
    }
  }
});
