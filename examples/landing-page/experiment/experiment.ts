import { randomUUID } from 'node:crypto';
// A program of your own imports this function from the package svc-marketplace; docs/contract.md#assignment-by-hash has the rule.
import { assignArm } from '../../../src/experiments/assign-arm.ts';
import type { ApiResult, ExperimentResponse, MarketplaceApi } from '../api/marketplace-api.ts';
import { SettingsError } from '../settings.ts';
import { type Variant, variants } from './variants.ts';

/**
 * Name of the experiment. All products use the same name, because an experiment belongs to one vertical. Other variants need another name
 * and other tags.
 */
export const experimentName = 'lp-form-or-quiz';

const variantNames = Object.keys(variants) as Variant[];

/**
 * Returns the experiment of a product. Creates it if this is the first start of the page. Throws `SettingsError` if an experiment with this
 * name has other arms.
 */
export async function openExperiment(api: MarketplaceApi): Promise<ApiResult<ExperimentResponse>> {
  const found = await api.experiment(experimentName);
  if (found.ok && !found.answer.arms.every(({ referrer_tag: tag }) => findVariant(tag) !== undefined)) {
    throw new SettingsError(`the experiment ${experimentName} has other arms than this page; use another name`);
  }
  if (found.ok || found.code !== 'NOT_FOUND') return found;
  return api.defineExperiment(experimentName, {
    arms: variantNames.map((variant) => ({
      referrer_tag: variants[variant].referrerTag,
      weight: 1 / variantNames.length,
      label: `Variant ${variants[variant].name}`,
    })),
    control: variants.a.referrerTag,
    unit: 'visitor',
    assignment: 'hash',
    starts_on: new Date().toISOString().slice(0, 10),
    min_effect_percent: 10,
    hypothesis: 'Visitors who answer one question at a time complete the form more often.',
  });
}

/** Returns the variant of a visitor, which is always the same, without a request. */
export function assignVariant({ name, arms }: Pick<ExperimentResponse, 'name' | 'arms'>, visitorId: string): Variant {
  const { referrer_tag: tag } = assignArm(name, visitorId, arms);
  return findVariant(tag)!;
}

function findVariant(tag: string): Variant | undefined {
  return variantNames.find((variant) => variants[variant].referrerTag === tag);
}

/** Returns the ID in the cookie of a visitor, or a new ID. The ID is random and identifies the visitor nowhere else. */
export function readVisitorId(cookie: string | undefined): string {
  return cookie !== undefined && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(cookie) ? cookie : randomUUID();
}
