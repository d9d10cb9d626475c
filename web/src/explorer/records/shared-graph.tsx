// The domain, its shared values, and other domains with each of them: a drawing of links, and the same as a table.
import { Link } from '@tanstack/react-router';
import { formatCount, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { DomainLink } from '../links/links.tsx';
import { nameOfKind, PivotLink } from './record-links.tsx';
import { type Records, type SharedValue, sharedValues } from './shared-values.ts';

/** Values and domains in the drawing; the table has all values. */
const MAX_DRAWN = 12;
/** A certificate of many sites would leave no space for other kinds. */
const MAX_OF_KIND = 2;

/** Columns of the drawing, in its units. */
const WIDTH = 960;
const OWN = { x: 0, width: 190 };
const VALUE = { x: 270, width: 350, height: 40, step: 50 };
const OTHER = { x: 710, width: 250, height: 28, step: 38 };

const countText = ({ count, isShared }: SharedValue) =>
  isShared ? `shared by ${formatNumber(count)} domains or more` : formatCount(count, 'other domain');

const COLUMNS: readonly Column<SharedValue>[] = [
  textColumn('Kind', 'kind', nameOfKind),
  textColumn('Value', 'value', (value, { kind }) => <PivotLink kind={kind} value={value} />),
  { name: 'Other domains', cell: countText, value: ({ count }) => count },
  {
    name: 'Domains',
    cell: ({ domains, isShared }) =>
      isShared
        ? 'not listed'
        : domains.map((domain, i) => (
            <span key={domain}>
              {i > 0 && ', '}
              <DomainLink domain={domain} tab="records" />
            </span>
          )),
  },
];

export function SharedGraph({ domain, records, related }: Pick<Records, 'domain' | 'records' | 'related'>) {
  const values = sharedValues({ records, related });
  if (values.length === 0) return <Empty>No other domain shares a value with it.</Empty>;
  const ofKinds = [...Map.groupBy(values, ({ kind }) => kind).values()].flatMap((of) => of.slice(0, MAX_OF_KIND));
  const drawn = values.filter((each) => ofKinds.includes(each)).slice(0, MAX_DRAWN);
  const label = `Values that ${domain} shares with other domains`;
  return (
    <figure className="chart stack">
      <p className="small soft">
        A value of few domains suggests one owner: its domains are drawn. Open a value to list its domains. A dashed one
        is shared by many, such as hosting or a certificate of many owners, and is not expanded.
      </p>
      <Drawing domain={domain} values={drawn} label={label} />
      {values.length > drawn.length && (
        <p className="small soft">
          {drawn.length} of {formatNumber(values.length)} shared values are drawn; the table has all.
        </p>
      )}
      <details>
        <summary>View as table</summary>
        <DataTable
          caption={label}
          rows={values}
          keyOf={({ kind, value }) => `${kind} ${value}`}
          columns={COLUMNS}
          empty=""
        />
      </details>
    </figure>
  );
}

interface DrawingProps {
  readonly domain: string;
  readonly values: readonly SharedValue[];
  readonly label: string;
}

function Drawing({ domain, values, label }: DrawingProps) {
  const drawn = [...new Set(values.flatMap(({ domains }) => domains))].slice(0, MAX_DRAWN);
  const height = Math.max(values.length * VALUE.step, drawn.length * OTHER.step);
  /** The middle of the row `i` of `count`; each column is centred. */
  const middle = (i: number, count: number, step: number) => (height - count * step) / 2 + (i + 0.5) * step;
  const ofValue = (i: number) => middle(i, values.length, VALUE.step);
  const ofOther = (i: number) => middle(i, drawn.length, OTHER.step);
  return (
    // Wider than a phone: it scrolls, and its links can be reached by keyboard.
    <div className="shared-graph">
      {/* biome-ignore lint/a11y/useSemanticElements: a group of links in a drawing */}
      <svg viewBox={`0 0 ${WIDTH} ${height}`} role="group" aria-label={label}>
        {values.map((each, i) => (
          <g key={`${each.kind} ${each.value}`} className="edges">
            <Edge from={[OWN.x + OWN.width, height / 2]} to={[VALUE.x, ofValue(i)]} />
            {each.domains.map((other) => {
              const at = drawn.indexOf(other);
              const to = [OTHER.x, ofOther(at)] as const;
              return at >= 0 && <Edge key={other} from={[VALUE.x + VALUE.width, ofValue(i)]} to={to} />;
            })}
          </g>
        ))}
        <Box x={OWN.x} y={height / 2} width={OWN.width} height={VALUE.height} className="own" lines={[domain]} />
        {values.map((each, i) => (
          <Link
            key={`${each.kind} ${each.value}`}
            to="/pivot"
            search={{ kind: each.kind, value: each.value }}
            preload={false}
          >
            <Box
              {...{ x: VALUE.x, y: ofValue(i), width: VALUE.width, height: VALUE.height }}
              className={each.isShared ? 'is-shared' : ''}
              lines={[`${nameOfKind(each.kind)} · ${countText(each)}`, each.value]}
            />
          </Link>
        ))}
        {drawn.map((other, i) => (
          <Link key={other} to="/domain/$domain" params={{ domain: other }} search={{ tab: 'records' }} preload={false}>
            <Box x={OTHER.x} y={ofOther(i)} width={OTHER.width} height={OTHER.height} lines={[other]} />
          </Link>
        ))}
      </svg>
    </div>
  );
}

type Point = readonly [x: number, y: number];

function Edge({ from: [x1, y1], to: [x2, y2] }: { readonly from: Point; readonly to: Point }) {
  const half = (x1 + x2) / 2;
  return <path d={`M${x1} ${y1}C${half} ${y1} ${half} ${y2} ${x2} ${y2}`} />;
}

interface BoxProps {
  readonly x: number;
  /** The middle. */
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** One line, or two of which the first is small. */
  readonly lines: readonly string[];
  readonly className?: string;
}

function Box({ x, y, width, height, lines, className }: BoxProps) {
  return (
    <g className={className}>
      <rect x={x + 0.5} y={y - height / 2} width={width - 1} height={height} rx="6" />
      {lines.map((line, i) => (
        <text
          key={line}
          x={x + 10}
          y={y + (lines.length === 1 ? 4 : i * 15 - 4)}
          className={lines.length > 1 && i === 0 ? 'small' : ''}
        >
          {fitted(line, width - 20)}
          <title>{line}</title>
        </text>
      ))}
    </g>
  );
}

/** Shortened to the width of a box; letters are about 7 units wide. */
function fitted(text: string, width: number): string {
  const max = Math.floor(width / 7);
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}
