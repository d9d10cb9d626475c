// Sortable tables. Long tables are virtualized on screen and complete in print.
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { formatNumber } from '../formats.ts';
import { printing, useObservable } from '../observable.ts';
import { Empty } from '../states.tsx';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  /** The sort value; a column without it is not sortable. */
  readonly value?: (row: Row) => string | number | null;
  readonly isNumber?: boolean;
  /** Hidden on a phone until all columns are requested. */
  readonly isMinor?: boolean;
}

interface DataTableProps<Row> {
  /** The accessible name of the table. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Shown instead of a table without rows. */
  readonly empty?: ReactNode;
}

/** Above this number of rows, only visible rows are rendered. */
const VIRTUAL_FROM = 100;
/** Estimated row height in pixels, before it is measured. */
const ROW_HEIGHT = 41;
/** Maximum number of printed rows, about 40 pages. */
const MAX_PRINTED = 2_000;

interface Order {
  readonly column: number;
  readonly isDescending: boolean;
}

export function DataTable<Row>(props: DataTableProps<Row>) {
  if (props.rows.length === 0 && props.empty !== undefined) return <Empty>{props.empty}</Empty>;
  return <FilledTable {...props} />;
}

function FilledTable<Row>({ caption, columns, rows, keyOf }: DataTableProps<Row>) {
  const [order, setOrder] = useState<Order | null>(null);
  const sorted = useMemo(() => inOrder(rows, columns, order), [rows, columns, order]);
  const [hasAllColumns, setAllColumns] = useState(false);
  const isPrinting = useObservable(printing);
  const isLong = rows.length > VIRTUAL_FROM;
  const isVirtual = isLong && !isPrinting;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: isVirtual ? sorted.length : 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  const shown = isVirtual ? items.map(({ index }) => index) : sorted.slice(0, MAX_PRINTED).map((_, i) => i);
  return (
    <section
      className={`table-scroll${isLong ? ' tall' : ''}${hasAllColumns ? ' all' : ''}`}
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling must be possible with the keyboard
      tabIndex={0}
      aria-label={caption}
    >
      <table aria-rowcount={sorted.length + 1}>
        <thead>
          <tr>
            {columns.map((column, i) => (
              <HeadCell
                key={column.name}
                column={column}
                order={order?.column === i ? order : null}
                onSort={() => setOrder(nextOrder(order, i, column.isNumber))}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {isVirtual && before > 0 && <Spacer height={before} span={columns.length} />}
          {shown.map((index) => {
            const row = sorted[index] as Row;
            return (
              <tr
                key={keyOf(row)}
                aria-rowindex={index + 2}
                // Row heights depend on their content.
                ref={isVirtual ? virtual.measureElement : undefined}
                data-index={index}
              >
                {columns.map((column) => (
                  <td key={column.name} className={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          {isVirtual && after > 0 && <Spacer height={after} span={columns.length} />}
        </tbody>
      </table>
      {columns.some(({ isMinor }) => isMinor) && (
        <button type="button" className="table-columns" onClick={() => setAllColumns(!hasAllColumns)}>
          {hasAllColumns ? 'Main columns' : 'All columns'}
        </button>
      )}
      {sorted.length > MAX_PRINTED && (
        <p className="table-cut">
          Showing the first {formatNumber(MAX_PRINTED)} of {formatNumber(sorted.length)} rows.
        </p>
      )}
    </section>
  );
}

function classOf<Row>({ isNumber, isMinor }: Column<Row>): string | undefined {
  return [isNumber && 'number', isMinor && 'minor'].filter(Boolean).join(' ') || undefined;
}

interface HeadCellProps<Row> {
  readonly column: Column<Row>;
  readonly order: Order | null;
  readonly onSort: () => void;
}

function HeadCell<Row>({ column, order, onSort }: HeadCellProps<Row>) {
  const sort = order === null ? undefined : order.isDescending ? 'descending' : 'ascending';
  return (
    <th scope="col" className={classOf(column)} aria-sort={sort}>
      {column.value ? (
        <button type="button" className="sort" onClick={onSort}>
          {column.name}
          <span aria-hidden="true">{sort === undefined ? '' : sort === 'descending' ? ' ↓' : ' ↑'}</span>
        </button>
      ) : (
        column.name
      )}
    </th>
  );
}

function Spacer({ height, span }: { readonly height: number; readonly span: number }) {
  return (
    <tr>
      <td colSpan={span} style={{ height, padding: 0, border: 0 }} />
    </tr>
  );
}

/** Numbers start in descending order, text in ascending order; the third click restores the original order. */
function nextOrder(order: Order | null, column: number, isNumber = false): Order | null {
  if (order?.column !== column) return { column, isDescending: isNumber };
  return order.isDescending === isNumber ? { column, isDescending: !isNumber } : null;
}

function inOrder<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: Order | null): readonly Row[] {
  const value = order === null ? undefined : columns[order.column]?.value;
  if (order === null || !value) return rows;
  const sign = order.isDescending ? -1 : 1;
  return rows.toSorted((a, b) => sign * compare(value(a), value(b)));
}

/** Unknown values sort before all known values. */
function compare(a: string | number | null, b: string | number | null): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  return typeof a === 'string' && typeof b === 'string' ? a.localeCompare(b) : a < b ? -1 : 1;
}
