// Usage by day and by key, team or model: a chart of spending or tokens, its table, and the CSV of all of it.
import type { UsageReport } from '@strata/client';
import { useState } from 'react';
import { Card } from '../../ui/card/card.tsx';
import { Chart } from '../../ui/chart/chart.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { formatDay, formatNumber } from '../../ui/formats.ts';
import { saveFile } from '../../ui/save-file.ts';
import { Empty } from '../../ui/states.tsx';
import { minor, numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { type Usage, usageCsv, useAdmin } from './admin-client.ts';
import { Read } from './form.tsx';
import { formatMoney } from './money.ts';

const DAYS = 30;
/** Series of the chart; the rest is one more. */
const MAX_SERIES = 6;
const GROUPS = [
  ['key', 'Key'],
  ['team', 'Team'],
  ['model', 'Model'],
] as const;
const MEASURES = [
  ['spend_micros', 'Spending'],
  ['tokens', 'Tokens'],
  ['requests', 'Requests'],
] as const;
type Measure = (typeof MEASURES)[number][0];

const dayOf = (atMs: number) => new Date(atMs).toISOString().slice(0, 10);

export function UsageCard() {
  const [by, setBy] = useState<string>('key');
  const [measure, setMeasure] = useState<Measure>('tokens');
  const [problem, setProblem] = useState('');
  const since = dayOf(Date.now() - (DAYS - 1) * 86_400_000);
  const asked = `by=${by}&since=${since}`;
  const usage = useAdmin<UsageReport>(`usage?${asked}`);
  const save = () =>
    usageCsv(asked).then(
      (csv) => saveFile('usage.csv', csv, 'text/csv'),
      (failed: Error) => setProblem(failed.message),
    );
  return (
    <Card
      title="Usage"
      actions={
        <>
          <Select label="By" all={null} value={by} options={GROUPS} onChange={(next = 'key') => setBy(next)} />
          <Select
            label="Show"
            all={null}
            value={measure}
            options={MEASURES}
            onChange={(next) => setMeasure(MEASURES.find(([value]) => value === next)?.[0] ?? 'tokens')}
          />
          <Button kind="small" onClick={() => void save()}>
            Download CSV
          </Button>
        </>
      }
      foot={<p className="small soft">The last {DAYS} days (UTC). Counted when an answer ends.</p>}
    >
      <p role="alert">{problem}</p>
      <Read of={usage} what="usage">
        {({ data }) => <UsageChart rows={data} measure={measure} />}
      </Read>
    </Card>
  );
}

/** A name of a team has no space. */
const idOf = ({ key_id, team, model }: Usage): string => key_id ?? team ?? model ?? 'no team';
const nameOf = (row: Usage): string => row.label ?? idOf(row);
const tokensOf = (row: Usage) => row.prompt_tokens + row.completion_tokens;
const amountOf = (row: Usage, measure: Measure) => (measure === 'tokens' ? tokensOf(row) : row[measure]);

function UsageChart({ rows, measure }: { readonly rows: readonly Usage[]; readonly measure: Measure }) {
  if (rows.length === 0) return <Empty>No answers in this time.</Empty>;
  const show = measure === 'spend_micros' ? formatMoney : formatNumber;
  const total = rows.reduce((sum, row) => sum + amountOf(row, measure), 0);
  const caption = `${MEASURES.find(([value]) => value === measure)?.[1]} by day`;
  return (
    <Chart
      label={`${caption}: ${show(total)} in ${DAYS} days`}
      data={{ rows, measure }}
      draw={drawn}
      height={300}
      table={<DataTable caption={caption} columns={COLUMNS} rows={rows} keyOf={(row) => `${row.day} ${idOf(row)}`} />}
    />
  );
}

function drawn({ rows, measure }: { readonly rows: readonly Usage[]; readonly measure: Measure }) {
  const days = [...new Set(rows.map(({ day }) => day))].sort();
  const show = measure === 'spend_micros' ? formatMoney : formatNumber;
  return {
    legend: {},
    tooltip: { trigger: 'axis', valueFormatter: (value: number) => show(value) },
    xAxis: { type: 'category', name: 'Day (UTC)', data: days.map(formatDay), axisLabel: { hideOverlap: true } },
    yAxis: { type: 'value', min: 0, axisLabel: { formatter: (value: number) => show(value) } },
    series: seriesOf(rows, measure).map(([name, byDay]) => ({
      ...{ type: 'bar', stack: 'all', name },
      data: days.map((day) => byDay.get(day) ?? 0),
    })),
  };
}

/** The largest series by name, and the sum of the rest. */
function seriesOf(
  rows: readonly Usage[],
  measure: Measure,
): readonly (readonly [name: string, byDay: ReadonlyMap<string, number>])[] {
  const sum = (of: readonly Usage[]) => of.reduce((total, row) => total + amountOf(row, measure), 0);
  const ordered = [...Map.groupBy(rows, idOf)].sort(([, a], [, b]) => sum(b) - sum(a));
  const small = ordered.slice(MAX_SERIES);
  const series = [
    ...ordered.slice(0, MAX_SERIES).map(([id, of]) => [nameIn(ordered, id, of), of] as const),
    ...(small.length === 0 ? [] : [[`${small.length} more`, small.flatMap(([, of]) => of)] as const]),
  ];
  return series.map(([name, of]) => [
    name,
    new Map([...Map.groupBy(of, ({ day }) => day)].map(([day, ofDay]) => [day, sum(ofDay)])),
  ]);
}

/** The label of a key, with its id if another key has the same label. */
function nameIn(all: readonly (readonly [string, readonly Usage[]])[], id: string, [row]: readonly Usage[]): string {
  const name = row ? nameOf(row) : id;
  const isShared = all.some(([other, [first]]) => other !== id && first && nameOf(first) === name);
  return isShared ? `${name} (${id})` : name;
}

const COLUMNS: readonly Column<Usage>[] = [
  textColumn('Day', 'day', formatDay),
  { name: 'Name', value: nameOf, cell: nameOf },
  numberColumn('Requests', 'requests'),
  numberColumn('Tokens', tokensOf),
  minor(numberColumn('Cached', 'cached_tokens')),
  numberColumn('Spending', 'spend_micros', formatMoney),
];
