// The adoption of a provider over time, and the other providers that its domains use.
import type { StackPaths } from '@strata/client';
import { Figure, Figures } from '../../ui/card/card.tsx';
import { Chart } from '../../ui/chart/chart.tsx';
import { formatDay, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { minor, numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { AnswerCard } from '../answer/answer.tsx';
import { providerColumn } from '../links/columns.tsx';
import { CountLink, ProviderLink } from '../links/links.tsx';

const PATH = '/stack/v1/intelligence/adoption/{tool}';
type Body = StackPaths[typeof PATH]['body'];
type Day = Body['curve'][number];

/** A day of the curve with its share of all domains; null if unknown. */
interface SharedDay extends Day {
  readonly share: number | null;
}

/** Null on a day without scans: neither 0 nor the value of the preceding day. */
const ifMeasured = ({ measured }: Day, number: number): number | null => (measured ? number : null);

const DAY_COLUMNS: readonly Column<SharedDay>[] = [
  textColumn('Day', 'date', formatDay),
  numberColumn('Domains', (day) => ifMeasured(day, day.domains)),
  numberColumn('Share', 'share', formatShare),
  numberColumn('Gained', (day) => ifMeasured(day, day.added)),
  numberColumn('Lost', (day) => ifMeasured(day, day.removed)),
];

export function Adoption({ provider }: { readonly provider: string }) {
  return (
    <AnswerCard title="Adoption over time" path={PATH} input={{ path: { tool: provider } }}>
      {(body) => (
        <>
          <Figures>
            <Figure name="Domains that use it today" note="with any confidence">
              <ProviderLink id={body.provider_id} tab="domains">
                {formatNumber(body.domains)}
              </ProviderLink>
            </Figure>
            <Figure name="Share of all domains" value={formatShare(body.share)} note="that were measured" />
          </Figures>
          {body.curve.length === 0 ? <Empty>No history yet.</Empty> : <Curve body={body} />}
          {body.curve.some(({ measured }) => !measured) && <p className="small soft">Gaps are days without scans.</p>}
          <p className="small soft">{body.method.split('. Jaccard')[0]}.</p>
        </>
      )}
    </AnswerCard>
  );
}

function Curve({ body }: { readonly body: Body }) {
  const [first, last] = [body.curve[0], body.curve.at(-1)];
  const caption = `Domains that use ${body.tool}, by day`;
  return (
    <Chart
      label={`${caption}: ${formatNumber(first?.domains)} on ${formatDay(first?.date)}, ${formatNumber(last?.domains)} on ${formatDay(last?.date)}`}
      data={body}
      draw={lineOf}
      height={300}
      table={
        <DataTable
          caption={caption}
          columns={DAY_COLUMNS}
          rows={sharesOf(body).toReversed()}
          keyOf={({ date }) => date}
        />
      }
    />
  );
}

/** The curve covers the domains tracked today, so their total follows from today's count and share. */
function sharesOf({ curve, domains, share }: Body): readonly SharedDay[] {
  return curve.map((day) => ({ ...day, share: share > 0 && day.measured ? (day.domains / domains) * share : null }));
}

function lineOf(body: Body) {
  const days = sharesOf(body);
  const hasShare = days.some(({ share }) => share !== null);
  return {
    tooltip: {
      trigger: 'axis',
      formatter: ([point]: readonly { dataIndex: number }[]) => {
        const day = days[point?.dataIndex ?? -1];
        if (!day) return '';
        const text = day.measured ? `${formatNumber(day.domains)} domains, ${formatShare(day.share)}` : 'not measured';
        return `${formatDay(day.date)}\n${text}`;
      },
    },
    xAxis: {
      type: 'category',
      name: 'Day (UTC)',
      data: days.map(({ date }) => formatDay(date)),
      axisLabel: { hideOverlap: true },
    },
    yAxis: {
      type: 'value',
      name: hasShare ? `Share of all domains that use ${body.tool}` : `Domains that use ${body.tool}`,
      nameTextStyle: { align: 'left' },
      min: 0,
      axisLabel: hasShare ? { formatter: formatShare } : {},
    },
    series: {
      type: 'line',
      step: 'end',
      connectNulls: false,
      // A day between two gaps has no line segment, so it is drawn as a point.
      showSymbol: true,
      symbol: (_: unknown, { dataIndex: at }: { dataIndex: number }) =>
        days[at - 1]?.measured || days[at + 1]?.measured ? 'none' : 'circle',
      symbolSize: 6,
      data: days.map((day) => (day.measured ? (hasShare ? day.share : day.domains) : null)),
    },
  };
}

const coAdoptionColumns = (own: string): readonly Column<Body['co_adoption'][number]>[] => [
  providerColumn,
  { name: 'Association', cell: ({ lift }) => associationOf(lift) },
  numberColumn('Shared domains', 'domains', (count, { provider_id }) => (
    <CountLink count={count} of={{ provider: own, with: provider_id }} />
  )),
  minor(numberColumn('Jaccard', 'jaccard', formatShare)),
  { name: 'Lift', isNumber: true, cell: ({ lift }) => lift.toFixed(2), value: ({ lift }) => lift },
];

/** A lift between 0.9 and 1.1 is not significant. */
function associationOf(lift: number): string {
  if (lift >= 2) return 'Strong positive';
  if (lift > 1.1) return 'Positive';
  if (lift >= 0.9) return 'None';
  return lift > 0.5 ? 'Negative' : 'Strong negative';
}

export function CoAdoption({ provider }: { readonly provider: string }) {
  return (
    <AnswerCard title="Used together with" path={PATH} input={{ path: { tool: provider } }}>
      {({ tool, provider_id: id, domains, co_adoption }) => (
        <>
          <DataTable
            caption={`Providers used together with ${tool}`}
            columns={coAdoptionColumns(id)}
            rows={co_adoption}
            keyOf={({ provider_id }) => provider_id}
            empty="No other provider shares at least 20 domains with it."
          />
          <p className="small soft note">
            Shared domains: those of the {formatNumber(domains)} domains of {tool} that use both. Jaccard: shared
            domains divided by the domains that use either. Lift: observed co-occurrence divided by that expected if
            both were independent. Providers with fewer than 20 shared domains and brands of the same owner are
            excluded.
          </p>
        </>
      )}
    </AnswerCard>
  );
}
