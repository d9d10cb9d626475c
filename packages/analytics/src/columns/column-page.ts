// The columns of one page of domains: the facts share one buffer, so that a page is copied and freed as one.
import { PackedRows } from './packed-rows.ts';
import { PAGE_SIZE } from './pages.ts';

export const TIME_KINDS = ['scanned_at', 'first_seen', 'changed_at'] as const;
export type TimeKind = (typeof TIME_KINDS)[number];

/** Widest first, so that each column is aligned. */
const BYTES = 5 * 4 + 2 * 2 + 4 * 1;
const SECOND_MS = 1_000;
const HIGH = 2 ** 32;

export class ColumnPage {
  readonly buffer: ArrayBuffer;
  /** Services, then builds. */
  readonly services: PackedRows;
  /** Milliseconds since the epoch in two parts: below and above 2^32. */
  readonly scannedLow: Uint32Array<ArrayBuffer>;
  readonly scannedHigh: Uint16Array<ArrayBuffer>;
  /** Seconds since the epoch, until the year 2106. */
  readonly firstSeen: Uint32Array<ArrayBuffer>;
  readonly changedAt: Uint32Array<ArrayBuffer>;
  readonly posture: Uint32Array<ArrayBuffer>;
  readonly holders: Uint32Array<ArrayBuffer>;
  readonly country: Uint16Array<ArrayBuffer>;
  readonly state: Uint8Array<ArrayBuffer>;
  readonly sector: Uint8Array<ArrayBuffer>;
  readonly score: Uint8Array<ArrayBuffer>;
  readonly buildCounts: Uint8Array<ArrayBuffer>;

  constructor(buffer = new ArrayBuffer(PAGE_SIZE * BYTES), services = new PackedRows()) {
    this.buffer = buffer;
    this.services = services;
    const wide = (column: number) => new Uint32Array(buffer, column * 4 * PAGE_SIZE, PAGE_SIZE);
    const half = (column: number) => new Uint16Array(buffer, (20 + column * 2) * PAGE_SIZE, PAGE_SIZE);
    const byte = (column: number) => new Uint8Array(buffer, (24 + column) * PAGE_SIZE, PAGE_SIZE);
    this.scannedLow = wide(0);
    this.firstSeen = wide(1);
    this.changedAt = wide(2);
    this.posture = wide(3);
    this.holders = wide(4);
    this.scannedHigh = half(0);
    this.country = half(1);
    this.state = byte(0);
    this.sector = byte(1);
    this.score = byte(2);
    this.buildCounts = byte(3);
  }

  copy(): ColumnPage {
    return new ColumnPage(this.buffer.slice(0), this.services.copy());
  }

  /** Milliseconds; 0: never. */
  time(row: number, kind: TimeKind): number {
    switch (kind) {
      case 'scanned_at':
        return (this.scannedHigh[row] as number) * HIGH + (this.scannedLow[row] as number);
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
      this.scannedHigh[row] = Math.floor(time / HIGH);
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
        const value = (low[row] as number) + (high ? (high[row] as number) * HIGH : 0);
        const isWithin = Number(value >= first) & Number(value <= last);
        found |= isWithin << (row & 31);
        size += isWithin;
      }
      bits[base >>> 5] = found;
    }
    return size;
  }
}
