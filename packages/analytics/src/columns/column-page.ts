// The columns of one page of domains: the times, of which most differ, share one buffer; the other facts are coded.
import { CodedColumn } from './coded-column.ts';
import { PackedRows } from './packed-rows.ts';
import { PAGE_SIZE } from './pages.ts';

export const TIME_KINDS = ['scanned_at', 'first_seen', 'changed_at'] as const;
export type TimeKind = (typeof TIME_KINDS)[number];

/** In the order of the buffer; 32 bits each. */
export const TIME_COLUMNS = ['scannedLow', 'firstSeen', 'changedAt'] as const;
export const CODED_COLUMNS = [
  ...(['scannedHigh', 'posture', 'holders', 'country', 'state', 'sector', 'score', 'buildCounts'] as const),
] as const;
export type CodedColumns = Readonly<Record<(typeof CODED_COLUMNS)[number], CodedColumn>>;

const SECOND_MS = 1_000;
const HIGH = 2 ** 32;

export class ColumnPage implements CodedColumns {
  readonly #buffer: ArrayBuffer;
  /** Services, then builds. */
  readonly services: PackedRows;
  /** Milliseconds since the epoch in two parts: below and above 2^32. */
  readonly scannedLow: Uint32Array<ArrayBuffer>;
  readonly scannedHigh: CodedColumn;
  /** Seconds since the epoch, until the year 2106. */
  readonly firstSeen: Uint32Array<ArrayBuffer>;
  readonly changedAt: Uint32Array<ArrayBuffer>;
  readonly posture: CodedColumn;
  readonly holders: CodedColumn;
  readonly country: CodedColumn;
  readonly state: CodedColumn;
  readonly sector: CodedColumn;
  readonly score: CodedColumn;
  readonly buildCounts: CodedColumn;

  /** Takes ownership of the parts. */
  constructor(
    services = new PackedRows(),
    buffer = new ArrayBuffer(TIME_COLUMNS.length * 4 * PAGE_SIZE),
    coded: Partial<CodedColumns> = {},
  ) {
    this.#buffer = buffer;
    this.services = services;
    const times = (column: number) => new Uint32Array(buffer, column * 4 * PAGE_SIZE, PAGE_SIZE);
    this.scannedLow = times(0);
    this.firstSeen = times(1);
    this.changedAt = times(2);
    this.scannedHigh = coded.scannedHigh ?? new CodedColumn();
    this.posture = coded.posture ?? new CodedColumn();
    this.holders = coded.holders ?? new CodedColumn();
    this.country = coded.country ?? new CodedColumn();
    this.state = coded.state ?? new CodedColumn();
    this.sector = coded.sector ?? new CodedColumn();
    this.score = coded.score ?? new CodedColumn();
    this.buildCounts = coded.buildCounts ?? new CodedColumn();
  }

  copy(): ColumnPage {
    const coded = Object.fromEntries(CODED_COLUMNS.map((name) => [name, this[name].copy()]));
    return new ColumnPage(this.services.copy(), this.#buffer.slice(0), coded);
  }

  /** Bytes without the services. */
  get byteLength(): number {
    return CODED_COLUMNS.reduce((sum, name) => sum + this[name].byteLength, this.#buffer.byteLength);
  }

  /** Milliseconds; 0: never. */
  time(row: number, kind: TimeKind): number {
    switch (kind) {
      case 'scanned_at':
        return this.scannedHigh.get(row) * HIGH + (this.scannedLow[row] as number);
      case 'first_seen':
        return (this.firstSeen[row] as number) * SECOND_MS;
      case 'changed_at':
        return (this.changedAt[row] as number) * SECOND_MS;
      default:
        return kind satisfies never;
    }
  }

  setTime(row: number, kind: TimeKind, time: number): void {
    if (kind === 'first_seen') this.firstSeen[row] = Math.floor(time / SECOND_MS);
    else if (kind === 'changed_at') this.changedAt[row] = Math.floor(time / SECOND_MS);
    else {
      this.scannedHigh.set(row, Math.floor(time / HIGH));
      this.scannedLow[row] = time % HIGH;
    }
  }

  /** Sets the bits of the rows with a time in the range, both ends included; returns how many. Without branches on the values. */
  markBetween(kind: TimeKind, [from, to]: readonly [from: number, to: number], bits: Uint32Array): number {
    const low = kind === 'scanned_at' ? this.scannedLow : kind === 'first_seen' ? this.firstSeen : this.changedAt;
    const high = kind === 'scanned_at' ? this.scannedHigh : undefined;
    const unitMs = high ? 1 : SECOND_MS;
    const [first, last] = [Math.max(Math.ceil(from / unitMs), 1), Math.floor(to / unitMs)];
    let size = 0;
    for (let base = 0; base < PAGE_SIZE; base += 32) {
      let found = 0;
      for (let row = base; row < base + 32; row += 1) {
        const value = (low[row] as number) + (high ? high.get(row) * HIGH : 0);
        const isWithin = Number(value >= first) & Number(value <= last);
        found |= isWithin << (row & 31);
        size += isWithin;
      }
      bits[base >>> 5] = found;
    }
    return size;
  }
}
