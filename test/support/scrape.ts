import assert from 'node:assert/strict';
import type { HttpClient } from './http-client.ts';

export interface Sample {
  /** As it stands on its line: of a histogram with `_bucket`, `_sum` or `_count`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

/** What one scrape of `/metrics` said. */
export class Scrape {
  readonly families: ReadonlyMap<string, Family>;

  private constructor(families: ReadonlyMap<string, Family>) {
    this.families = families;
  }

  /** Reads the Prometheus text format, and insists that it is well formed. */
  static parse(text: string): Scrape {
    const families = new Map<string, Family & { samples: Sample[] }>();
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

  /** With what only another one has. */
  joinedBy(other: Scrape): Scrape {
    return new Scrape(new Map([...other.families, ...this.families]));
  }

  get samples(): Sample[] {
    return [...this.families.values()].flatMap(({ samples }) => samples);
  }

  /** The samples of one name, with the labels given and maybe others. */
  find(name: string, labels: Readonly<Record<string, string>> = {}): Sample[] {
    return this.samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
  }

  /** The one sample of that name and labels; 0 where there is none, as of a counter that has not counted yet. */
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
