// How often claims are right, by their score: a reliability diagram for all claims and for each kind of evidence.
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { Chart } from '../../ui/chart/chart.tsx';
import type { ChartTheme } from '../../ui/chart/chart-theme.ts';
import { formatCount, formatDay, formatName, formatNumber, formatShare } from '../../ui/formats.ts';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Page } from '../frame/page.tsx';
import measured from './calibration.json';

type Reliability = (typeof measured)['all'];
type Bin = Reliability['bins'][number];
type Kind = (typeof measured)['kinds'][number];

const HEIGHT = 300;
/** With fewer claims a diagram shows chance. */
const DRAWN_CLAIMS = 100;

export function Calibration() {
  const { all, levels, kinds, companies } = measured;
  return (
    <Page
      title="Calibration"
      lead="The score of a claim is the probability that the company uses the provider in that role now. Here is how often claims are right, by their score."
    >
      <Card title="All claims">
        <Figures>
          <Figure name="Expected calibration error" value={all.error.toFixed(3)} note="goal: at most 0.03" />
          {levels.map(({ level, claims, right }) => (
            <Figure
              key={level}
              name={`Right with ${level} confidence`}
              value={formatShare(right)}
              note={`of ${formatCount(claims, 'claim')}`}
            />
          ))}
        </Figures>
        <Diagram name="All claims" of={all} />
        <Method companies={companies} />
      </Card>
      <Card title="By evidence">
        <DataTable
          caption="Calibration by the source of the strongest evidence"
          columns={KIND_COLUMNS}
          rows={kinds}
          keyOf={({ source }) => source}
        />
        <p className="small soft">
          By chance: with perfectly calibrated scores and the same number of claims, the error exceeds this value with a
          probability of 5 %. Diagrams need at least {formatNumber(DRAWN_CLAIMS)} claims with different scores.
        </p>
      </Card>
      {kinds
        .filter(({ claims, bins }) => claims >= DRAWN_CLAIMS && bins.length > 1)
        .map((kind) => (
          <Card key={kind.source} title={formatSource(kind)} width="half">
            <Diagram name={formatSource(kind)} of={kind} />
          </Card>
        ))}
    </Page>
  );
}

const formatSource = ({ source }: Kind) => (source.length <= 5 ? source.toUpperCase() : formatName(source));

const KIND_COLUMNS: readonly Column<Kind>[] = [
  { name: 'Evidence', cell: formatSource, value: formatSource },
  numberColumn('Claims', 'claims'),
  numberColumn('Right', 'right', formatShare),
  numberColumn('Error', 'error', (error) => error?.toFixed(3)),
  numberColumn('By chance', 'chance', (error) => error?.toFixed(3)),
];

const BIN_COLUMNS: readonly Column<Bin>[] = [
  numberColumn('Mean score', 'score', (score) => score?.toFixed(2)),
  numberColumn('Right', 'share', formatShare),
  numberColumn('Claims', 'claims'),
];

function Diagram({ name, of: { bins, error } }: { readonly name: string; readonly of: Reliability }) {
  const points = bins.map(({ score, share }) => `score ${score.toFixed(2)}, ${formatShare(share)} right`);
  return (
    <Chart
      label={`${name}: calibration error ${error.toFixed(3)}; ${points.join('; ')}`}
      data={bins}
      draw={diagramOf}
      height={HEIGHT}
      table={
        <DataTable
          caption={`${name}: score and share of right claims`}
          columns={BIN_COLUMNS}
          rows={bins}
          keyOf={({ score }) => String(score)}
        />
      }
    />
  );
}

/** The points lie on the diagonal if the score is the share of right claims. */
function diagramOf(bins: readonly Bin[], { accent, faint }: ChartTheme) {
  const axis = { type: 'value', min: 0, max: 1 };
  return {
    grid: { left: 8, right: 24, top: 16, bottom: 36, containLabel: true },
    xAxis: { ...axis, name: 'Score' },
    yAxis: { ...axis, axisLabel: { formatter: formatShare } },
    tooltip: {
      trigger: 'item',
      formatter: ({ seriesIndex, dataIndex }: { seriesIndex: number; dataIndex: number }) => {
        const bin = seriesIndex === 0 ? undefined : bins[dataIndex];
        if (!bin) return 'Score and share are equal';
        return `Score ${bin.score.toFixed(2)}: ${formatShare(bin.share)} of ${formatCount(bin.claims, 'claim')} right`;
      },
    },
    series: [
      {
        ...{ type: 'line', symbol: 'none', lineStyle: { type: 'dashed', width: 1, color: faint } },
        data: [
          [0, 0],
          [1, 1],
        ],
      },
      {
        ...{ type: 'line', symbol: 'circle', symbolSize: 10, itemStyle: { color: accent }, lineStyle: { width: 1 } },
        data: bins.map(({ score, share }) => [score, share]),
      },
    ],
  };
}

function Method({ companies }: { readonly companies: number }) {
  return (
    <p className="small soft">
      Measured on {formatDay(measured.measured)} with rulebook {measured.rulebook}, on half of {formatNumber(companies)}{' '}
      simulated companies; the strengths of the evidence were estimated on the other half. The simulated world was built
      from public descriptions: vendors’ documents, RFCs and published shares. How many records outlive their service is
      an assumption of that world, and errors that it does not contain are not measured. A claim about a service that
      the company no longer uses is counted as wrong, except for verified accounts. Each bin has at least a tenth of the
      claims.
    </p>
  );
}
