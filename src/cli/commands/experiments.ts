import type { Command } from 'commander';
import type { AnalyticsTenant } from '../../analytics/analytics.ts';
import type { ReadOnlyAnalytics } from '../../analytics/read-only-analytics.ts';
import { bounds } from '../../bounds.ts';
import type { VerticalRegistry } from '../../catalogs/vertical-registry.ts';
import { readDataDir } from '../../config/config.ts';
import { daysSinceEpoch } from '../../domain/calendar.ts';
import type { Experiment } from '../../experiments/experiment.ts';
import type { ExperimentResponse } from '../../operations/experiments/experiment-schemas.ts';
import { toExperimentView } from '../../operations/experiments/experiment-view.ts';
import {
  CommandLineError,
  createCommandGroup,
  createModeOption,
  createVerticalOption,
  defineCommand,
  parseAccountName,
  type TenantOptions,
} from '../command.ts';
import { readFolderClock } from '../folder-clock.ts';
import { printJson, printResult } from '../output.ts';
import { printPages, withStoredAnalytics } from './analytics.ts';
import { unknownExperimentError } from './experiment-client.ts';
import { experimentColumns, experimentJsonMembers, formatExperiment, formatResults } from './experiment-text.ts';
import { closeExperimentCommand } from './experiments-close.ts';
import { createExperimentCommand, parseExperimentName } from './experiments-create.ts';
import { findTenant, listKeys } from './keys.ts';

const storeText =
  'The command reads the analytics store of the data folder (SVC_DATA_DIR, or ./data), also while a server runs. The newest changes may be missing.';

export function createCommand(registry: VerticalRegistry): Command {
  return createCommandGroup('experiments', 'Defines, prints and closes experiments, which compare referrer tags.', [
    listCommand(registry),
    showCommand(registry),
    resultsCommand(registry),
    createExperimentCommand(registry),
    closeExperimentCommand(registry),
  ]);
}

function addTenantOptions(command: Command, { verticals }: VerticalRegistry): Command {
  return command
    .requiredOption('--account <name>', 'account of the experiments', parseAccountName)
    .addOption(
      createVerticalOption('vertical of the experiments', verticals).default(verticals[0], verticals[0]!.segment),
    )
    .addOption(createModeOption('experiments of live keys or of test keys').default('live'));
}

function listCommand(registry: VerticalRegistry): Command {
  const command = defineCommand('list', {
    summary: 'list the experiments of an account',
    description: `Prints the experiments of an account in alphabetical order, without deleted ones. ${storeText}`,
    examples: [
      'marketplace experiments list --account acme',
      `marketplace experiments list --account acme --json | jq -r 'select(.state == "final") | .name'`,
    ],
    json: `one object per line and experiment, ${experimentJsonMembers}, as_of_position`,
  });
  return addTenantOptions(command, registry).action(printExperiments);
}

function showCommand(registry: VerticalRegistry): Command {
  const command = defineCommand('show', {
    summary: 'print one experiment',
    description: `Prints the definition and the state of an experiment, also of a deleted one. ${storeText}`,
    examples: ['marketplace experiments show hero-test --account acme'],
    json: `one object, ${experimentJsonMembers}, as_of_position`,
  }).argument('<name>', 'name of the experiment', parseExperimentName);
  return addTenantOptions(command, registry).action(printExperiment);
}

function resultsCommand(registry: VerticalRegistry): Command {
  const command = defineCommand('results', {
    summary: 'compare the arms of an experiment',
    description:
      'Prints the results of an experiment, as GET /experiments/{name}/results does: a sentence, the arms, their comparison with the control, ' +
      `and the warnings. ${storeText}`,
    examples: [
      'marketplace experiments results hero-test --account acme',
      'marketplace experiments results hero-test --account acme --json | jq -r .sentence',
      'marketplace experiments results hero-test --account acme --group-by device',
    ],
    json:
      'one object, as in the API (docs/contract.md#results): name, state, decision, sentence, as_of, planned_day, retrospective, unit, control, ' +
      'fill_progress, warnings, left_out, arms, comparisons, split_check, guardrails, breakdown, series, as_of_position',
  })
    .argument('<name>', 'name of the experiment', parseExperimentName)
    .option(
      '--group-by <name>',
      'also print the figures of each device or of each value of a dimension (member breakdown of the JSON)',
    );
  return addTenantOptions(command, registry).action(printResults);
}

interface StoredExperiments {
  readonly analytics: ReadOnlyAnalytics;
  readonly tenant: AnalyticsTenant;
  readonly nowMs: number;
  readonly toView: (experiment: Experiment) => ExperimentResponse;
}

/** Runs a function that reads experiments of one account from the analytics store. */
async function withStoredExperiments(
  options: TenantOptions,
  run: (stored: StoredExperiments) => Promise<void>,
): Promise<void> {
  const dataDir = readDataDir();
  const { tenant, tenantDir } = findTenant(dataDir, options);
  const keys = listKeys(dataDir);
  const nowMs = readFolderClock(dataDir).wallMs();
  const findKeyId = (keyNumber: number) => keys.find(({ number }) => number === keyNumber)?.id ?? null;
  const toView = (experiment: Experiment) => toExperimentView(experiment, nowMs, findKeyId);
  await withStoredAnalytics(tenantDir, (analytics) => run({ analytics, tenant, nowMs, toView }));
}

async function printExperiments(options: TenantOptions): Promise<void> {
  await withStoredExperiments(options, async ({ analytics, tenant, toView }) => {
    async function* readPages(): AsyncGenerator<readonly ExperimentResponse[], void> {
      for (let afterName: string | null = ''; afterName !== null; ) {
        const page = await analytics.listExperiments({ ...tenant, afterName, limit: bounds.analyticsPageItemsMax });
        yield page.experiments.map(toView);
        afterName = page.nextAfterName;
      }
    }
    const json = options.json ?? false;
    await printPages(readPages(), analytics, { json, columns: experimentColumns, itemName: 'experiment' });
  });
}

async function printExperiment(name: string, options: TenantOptions): Promise<void> {
  await withStoredExperiments(options, async ({ analytics, tenant, toView }) => {
    const experiment = await analytics.findExperiment({ ...tenant, name });
    if (experiment === null) throw unknownExperimentError();
    const view = toView(experiment);
    if (options.json) printJson({ ...view, as_of_position: analytics.appliedPosition });
    else printResult(formatExperiment(view));
  });
}

interface ResultsOptions extends TenantOptions {
  readonly groupBy?: string | null;
}

async function printResults(name: string, options: ResultsOptions): Promise<void> {
  const { json, groupBy = null } = options;
  await withStoredExperiments(options, async ({ analytics, tenant, nowMs }) => {
    const today = daysSinceEpoch(nowMs);
    const query = { ...tenant, name, today, withSeries: true, isLast: false, groupBy };
    const results = await analytics.getExperimentResults(query);
    if (results === null) throw unknownExperimentError();
    if (groupBy !== null && results.breakdown === undefined) {
      throw new CommandLineError('--group-by must be device or one of the dimensions of the experiment');
    }
    if (json) printJson({ ...results, as_of_position: analytics.appliedPosition });
    else printResult(formatResults(results));
  });
}
