import assert from 'node:assert/strict';
import type { HttpClient } from './http-client.ts';

export interface Sample {
  /** Name of the sample, with the suffix `_bucket`, `_sum` or `_count` for histograms. */
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

/** Parsed response of `/metrics`. */
export class Scrape {
  readonly families: ReadonlyMap<string, Family>;

  private constructor(families: ReadonlyMap<string, Family>) {
    this.families = families;
  }

  /** Parses the Prometheus text format. Fails if the text is malformed. */
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

  /** Returns the samples of this scrape, and those of the other scrape whose names this scrape lacks. */
  joinedBy(other: Scrape): Scrape {
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
