import assert from 'node:assert/strict';
import { bounds } from '../../src/bounds.ts';
import { widgetLoadId } from './api-caller.ts';
import type { HttpClient } from './http-client.ts';
import type { RunningMarketplace } from './running-marketplace.ts';
import { personalLoansFixture as fixture } from './vertical-fixtures.ts';

export interface Sample {
  /** Name of the sample, with the suffix `_bucket`, `_sum` or `_count` for histograms. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

/** Parsed response of `/metrics`. */
export class Scrape {
  readonly families: ReadonlyMap<string, MetricFamily>;

  private constructor(families: ReadonlyMap<string, MetricFamily>) {
    this.families = families;
  }

  /** Parses the Prometheus text format. Fails if the text is malformed. */
  static parse(text: string): Scrape {
    const families = new Map<string, MetricFamily & { samples: Sample[] }>();
    for (const block of text.trimEnd().split('\n\n')) {
      const [help = '', type = '', ...lines] = block.split('\n');
      const [, name = '', words = ''] = /^# HELP ([a-z_]+) (.+)$/.exec(help) ?? [];
      const [, typed, kind = ''] = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(type) ?? [];
      assert.ok(name !== '' && typed === name, `not the head of a metric: ${help}`);
      assert.ok(!families.has(name), `${name} comes twice`);
      families.set(name, { name, help: words, type: kind, samples: lines.map(parseSample) });
    }
    return new Scrape(families);
  }

  static async of(operations: HttpClient): Promise<Scrape> {
    const answer = await operations.send({ path: '/metrics' });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    return Scrape.parse(answer.text);
  }

  /** Returns the samples of this scrape, and those of the other scrape whose names this scrape lacks. */
  withMissingSamplesOf(other: Scrape): Scrape {
    return new Scrape(new Map([...other.families, ...this.families]));
  }

  get samples(): Sample[] {
    return [...this.families.values()].flatMap(({ samples }) => samples);
  }

  /** Returns the samples with this name and at least these labels. */
  find(name: string, labels: Readonly<Record<string, string>> = {}): Sample[] {
    return this.samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
  }

  /** Returns the value of the only sample with this name and these labels, or 0 if there is no such sample. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const found = this.find(name, labels);
    assert.ok(found.length <= 1, `${found.length} samples of ${name}`);
    return found[0]?.value ?? 0;
  }
}

function parseSample(line: string): Sample {
  const parts = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
  assert.ok(parts !== null, `not a sample: ${line}`);
  const [, name = '', labelText = '', number = ''] = parts;
  const labels: Record<string, string> = {};
  const rest = labelText.replaceAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"(?:,|$)/g, (_, label: string, value: string) => {
    labels[label] = value;
    return '';
  });
  assert.equal(rest, '', line);
  const value = Number(number);
  assert.ok(Number.isFinite(value), line);
  return { name, labels, value };
}

/** Sends requests of every route whose responses the tests know. */
export async function requestEveryRoute(market: RunningMarketplace): Promise<void> {
  const { http } = market;
  const caller = market.caller(fixture);
  const first = await caller.createSessionWithFields('metrics', fixture.complete);
  await caller.createSession('metrics');
  const { offers } = await caller.offers(first);
  await caller.offers(first);
  await caller.get('marketplace', { sub_id: first, format: 'json' }, {}, 'HEAD');
  await caller.click(offers[0]!.click_url);
  await caller.click(`http://h/c?sub=${first}&offer=nothing&v=nothing`);
  await caller.summary({ referrer_tag: 'metrics' });
  await http.send({ path: '/c/sandbox' });
  const { pathname, search } = new URL(offers[0]!.logo_url);
  await http.send({ path: pathname + search });

  const widget = await caller.createWidget('metrics', fixture.complete);
  await widget.get('');
  await http.send({ path: '/w/widget.js' });
  await widget.offers(widgetLoadId(1));
  await widget.sendEvents({ load: widgetLoadId(1), events: [{ event_id: 'e1', type: 'widget_loaded' }] });

  // Sends requests that different checks reject.
  await caller.post('session', { referrer_tag: 'X' });
  await http.send({ path: `${caller.basePath}/session` });
  await market.callerWithKey(fixture, 'nobody').post('session', {});
  await caller.post('inputs', 'x'.repeat(bounds.requestBodyBytesMax + 1));
  await http.send({ path: '/nowhere/anybody/asked/for' });
  await http.send({ path: '/w/nothing' });
  await http.send({ method: 'OPTIONS', path: `${caller.basePath}/inputs` });
}
