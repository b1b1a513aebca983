import { microsToUsd } from '../domain/money.ts';
import type { CatalogOffersPage } from '../http/routes/operator/catalog-routes.ts';
import type { KeysPage, KeyView } from '../http/routes/operator/key-routes.ts';
import type { ServiceStatus } from '../http/routes/operator/status-route.ts';
import type { ConfirmationsResponse } from '../operations/confirm-revenue.ts';

/** Parsed answer of one shard; null if the shard does not answer. */
export interface ShardValue<Value> {
  readonly shard: number;
  readonly value: Value | null;
}

function sum<Value>(values: readonly Value[], read: (value: Value) => number): number {
  return values.reduce((total, value) => total + read(value), 0);
}

/**
 * Merges `GET /status`: figures are sums over the shards, times and versions are those of shard 0, and `shards` has the answer of each shard.
 */
export function mergeStatus(answers: readonly ShardValue<ServiceStatus>[]) {
  const present = answers.flatMap(({ value }) => value ?? []);
  const [first] = present as [ServiceStatus];
  const reasons = answers.flatMap(({ shard, value }) =>
    (value?.reasons ?? ['the shard does not answer']).map((reason) => `shard ${shard}: ${reason}`),
  );
  return {
    ...first,
    ready: reasons.length === 0,
    reasons,
    sessions: { live: sum(present, (each) => each.sessions.live), limit: sum(present, (each) => each.sessions.limit) },
    requests_in_flight: sum(present, (each) => each.requests_in_flight),
    matching: {
      threads: sum(present, ({ matching }) => matching.threads),
      threads_ready: sum(present, ({ matching }) => matching.threads_ready),
      pending: sum(present, ({ matching }) => matching.pending),
    },
    ledger: {
      healthy: present.every(({ ledger }) => ledger.healthy),
      appended_position: sum(present, ({ ledger }) => ledger.appended_position),
      durable_position: sum(present, ({ ledger }) => ledger.durable_position),
    },
    journal: { healthy: present.every(({ journal }) => journal.healthy) },
    analytics: {
      healthy: present.every(({ analytics }) => analytics.healthy),
      applied_position: sum(present, ({ analytics }) => analytics.applied_position),
      lag_records: sum(present, ({ analytics }) => analytics.lag_records),
      lag_seconds: Math.max(...present.map(({ analytics }) => analytics.lag_seconds)),
    },
    shards: answers.map(({ shard, value }) => ({ shard, status: value })),
  };
}

/**
 * Merges answers of `POST /confirmations` to the same rows. One shard decides each row. The row is `unknown` if this shard does not answer.
 */
export function mergeConfirmations(answers: readonly ShardValue<ConfirmationsResponse>[]): ConfirmationsResponse {
  const responses = answers.flatMap(({ value }) => value ?? []);
  const counts = { accepted: 0, repeated: 0, rejected: 0, unknown: 0 };
  const results = responses[0]!.results.map((result, index) => {
    const decided = responses.find(({ results: each }) => each[index]?.outcome !== 'unknown')?.results[index] ?? result;
    counts[decided.outcome]++;
    return decided;
  });
  return { ...counts, results };
}

/**
 * Merges answers with a page of offers. States and limits are those of shard 0, which knows the bookings of all shards. `last_30_days` is a
 * sum over the shards, and null if a shard has no figures of the offer.
 */
export function mergeOffers(answers: readonly ShardValue<CatalogOffersPage>[]): CatalogOffersPage {
  const first = answers[0]!.value!;
  const totalsOfShards = answers.map(
    ({ value }) => new Map(value?.data.map((offer) => [offer.svc_offer_id, offer.last_30_days])),
  );
  return {
    ...first,
    data: first.data.map((offer) => {
      const totals = totalsOfShards.flatMap((each) => each.get(offer.svc_offer_id) ?? []);
      if (totals.length < answers.length) return { ...offer, last_30_days: null };
      return {
        ...offer,
        last_30_days: {
          shown: sum(totals, ({ shown }) => shown),
          offer_clicks: sum(totals, ({ offer_clicks: clicks }) => clicks),
          rev_attributed: sumUsd(totals, ({ rev_attributed: attributed }) => attributed),
          rev_confirmed: sumUsd(totals, ({ rev_confirmed: confirmed }) => confirmed),
        },
      };
    }),
  };
}

/** Adds amounts as micro-dollars, which are integers. */
function sumUsd<Value>(values: readonly Value[], read: (value: Value) => number): number {
  return microsToUsd(sum(values, (value) => Math.round(read(value) * 1_000_000)));
}

/** Answer of `GET /keys/{id}` or `GET /keys`, which is a page or an array of all keys. */
type KeysAnswer = KeyView | readonly KeyView[] | KeysPage;

/** Merges answers that list API keys. Every shard knows all keys, but only the shard of an account counts the requests of its keys. */
export function mergeKeys(answers: readonly ShardValue<KeysAnswer>[]): KeysAnswer {
  const [first, ...others] = answers.map(({ value }) => value).filter((value) => value !== null) as [
    KeysAnswer,
    ...KeysAnswer[],
  ];
  const viewsById = new Map<string, KeyView[]>();
  for (const view of others.flatMap(listViews)) {
    const views = viewsById.get(view.id);
    if (views === undefined) viewsById.set(view.id, [view]);
    else views.push(view);
  }
  const merge = (view: KeyView) => mergeKeyUses([view, ...(viewsById.get(view.id) ?? [])]);
  if (Array.isArray(first)) return first.map(merge);
  return 'data' in first ? { ...first, data: first.data.map(merge) } : merge(first as KeyView);
}

function listViews(answer: KeysAnswer): readonly KeyView[] {
  if (Array.isArray(answer)) return answer;
  return 'data' in answer ? answer.data : [answer as KeyView];
}

function mergeKeyUses(views: readonly KeyView[]): KeyView {
  const [first] = views as [KeyView];
  const toUsage = (name: keyof KeyView['usage']) => ({
    limit: first.usage[name].limit,
    used: sum(views, ({ usage }) => usage[name].used),
  });
  const uses = views.flatMap(({ last_used_at: lastUsed }) => lastUsed ?? []).sort();
  return {
    ...first,
    usage: {
      requests_per_minute: toUsage('requests_per_minute'),
      analytics_per_minute: toUsage('analytics_per_minute'),
      sessions_per_day: toUsage('sessions_per_day'),
    },
    last_used_at: uses.at(-1) ?? null,
  };
}
