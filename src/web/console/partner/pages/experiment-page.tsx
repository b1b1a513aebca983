import type { ExperimentResults } from '../../common/api-types.ts';
import { formatUsdPerUnit, formatUtcDay } from '../../common/format.ts';
import { type PartnerLogin, useLogin } from '../../common/login.ts';
import { Plot } from '../../common/plot.tsx';
import { PageHeading } from '../../common/shell.tsx';
import { WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import { partnerPath } from '../partner-path.ts';

/** Page of an experiment. */
export function ExperimentPage({ name }: { readonly name: string }) {
  const login = useLogin<PartnerLogin>();
  const path = partnerPath(login, ['experiments', name, 'results'], { series: true });
  const loaded = useApi<ExperimentResults>(path, ['sentence', 'arms']);
  return (
    <>
      <PageHeading title={name}>{name}</PageHeading>
      <WhenLoaded loaded={loaded} what="results">
        {(results) => <Results results={results} />}
      </WhenLoaded>
    </>
  );
}

function Results({ results: { sentence, as_of, comparisons, series = [] } }: { readonly results: ExperimentResults }) {
  const days = [...new Set(series.map((look) => look.as_of))];
  return (
    <section class="card section">
      <p>{sentence}</p>
      <p class="soft">Results up to {formatUtcDay(as_of)}.</p>
      {days.length > 0 && (
        <Plot
          title="Difference in revenue per session from the control"
          axis={{ kind: 'days', label: 'Day', days }}
          format={formatUsdPerUnit}
          zeroLabel="no difference"
          fileName="difference"
          lines={comparisons.map(({ arm }) => {
            const looks = series.filter((look) => look.arm === arm);
            return {
              label: arm,
              values: looks.map(({ difference }) => difference),
              band: { low: looks.map(({ low }) => low), high: looks.map(({ high }) => high) },
            };
          })}
        />
      )}
    </section>
  );
}
