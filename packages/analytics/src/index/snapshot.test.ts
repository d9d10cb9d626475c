import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { checkIndex } from '../test/check-index.ts';
import { changes, scans } from '../test/random-changes.ts';
import { PROVIDERS, steps, takeStep } from '../test/random-domains.ts';
import { DomainIndex } from './domain-index.ts';
import { decodeSnapshot, encodeSnapshot } from './snapshot.ts';

const STORE = 'store-1';
type Header = Record<string, unknown>;

const contents = fc.record({ steps: steps({ domains: 30, max: 100 }), changes, scans });
type Contents = Parameters<Parameters<typeof contents.map>[0]>[0];

function take(index: DomainIndex, { steps, changes, scans }: Contents): void {
  for (const step of steps) takeStep(index, step);
  for (const change of changes) index.history.add(change);
  for (const { day, scans: count, rulebook } of scans)
    index.history.scans.add(day, { scans: count, measured: count, rulebook });
  index.position = { seq: index.position.seq + steps.length, scanId: index.position.scanId + scans.length };
}

function indexOf(...all: readonly Contents[]): DomainIndex {
  const index = new DomainIndex();
  for (const each of all) take(index, each);
  return index;
}

const sampleIndex = (): DomainIndex => indexOf(...fc.sample(contents, { numRuns: 1, seed: 5 }));

function decoded(bytes: Uint8Array): DomainIndex {
  const index = decodeSnapshot(bytes, STORE);
  assert.ok(index);
  return index;
}

/**
 * A comparable description of columns, names and history; sets and counts follow from it, which `checkIndex` checks.
 */
function described(index: DomainIndex) {
  return {
    position: index.position,
    domains: [...index.names.sorted.numbers()].map((id) => {
      const builds = PROVIDERS.map((provider) => index.buildOf(id, provider));
      return [id, index.names.name(id), index.columns.facts(id), index.services(id), builds];
    }),
    history: index.history.describe(),
    providers: index.vocabulary.providers.words(),
    placements: index.vocabulary.placements,
  };
}

const aligned = (offset: number) => Math.ceil(offset / 8) * 8;

function headerOf(bytes: Uint8Array) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header: Header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return { header, start: aligned(4 + length) };
}

function changedHeader(bytes: Uint8Array, change: (header: Header) => unknown): Uint8Array {
  const { header, start } = headerOf(bytes);
  change(header);
  const head = new TextEncoder().encode(JSON.stringify(header));
  const padding = new Uint8Array(aligned(4 + head.length) - 4 - head.length);
  const length = new Uint8Array(Uint32Array.of(head.length).buffer);
  return new Uint8Array([...length, ...head, ...padding, ...bytes.subarray(start)]);
}

function changedColumn(bytes: Uint8Array, name: string, at: number, value: number): Uint8Array {
  const changed = bytes.slice();
  const view = new DataView(changed.buffer);
  const { header, start: from } = headerOf(bytes);
  let start = from;
  for (const column of header.columns as { name: string; type: 'u8' | 'u16' | 'u32' | 'f64'; length: number }[]) {
    const width = { u8: 1, u16: 2, u32: 4, f64: 8 }[column.type];
    if (column.name === name && width === 1) view.setUint8(start + at, value);
    if (column.name === name && width === 2) view.setUint16(start + at * 2, value, true);
    if (column.name === name && width === 4) view.setUint32(start + at * 4, value, true);
    start = aligned(start + column.length * width);
  }
  return changed;
}

it('a snapshot gives the same index, read from anywhere in a larger buffer, which goes on like the old one', () =>
  holds(15, [contents, fc.nat(100), fc.nat(9)], (all, half, shift) => {
    const first = { ...all, steps: all.steps.slice(0, half) };
    const second = { ...all, steps: all.steps.slice(half) };
    const bytes = encodeSnapshot(indexOf(first), STORE);
    const buffer = Buffer.alloc(bytes.length + 20, 0xaa);
    buffer.set(bytes, shift);
    const again = decoded(buffer.subarray(shift, shift + bytes.length));
    buffer.fill(0xff);
    assert.deepEqual(described(again), described(indexOf(first)));
    checkIndex(again);
    take(again, second);
    assert.deepEqual(described(again), described(indexOf(first, second)));
    checkIndex(again);
  }));
it('a snapshot of another store, another version or other words is refused', () => {
  const bytes = encodeSnapshot(new DomainIndex(), STORE);
  const changed = (other: object) => changedHeader(bytes, (header) => Object.assign(header, other));
  assert.equal(decodeSnapshot(bytes, 'store-2'), undefined);
  for (const other of [{ version: 1 }, { version: 3 }, { words: '[["email","dns"]]' }])
    assert.equal(decodeSnapshot(changed(other), STORE), undefined);
  assert.equal(decoded(changed({})).size, 0);
  checkIndex(decoded(changed({})));
});
it('a snapshot that is truncated anywhere, or longer than it was, throws', () => {
  const bytes = encodeSnapshot(sampleIndex(), STORE);
  for (let length = 0; length < bytes.length; length += 1 + (length >> 6))
    assert.throws(() => decodeSnapshot(bytes.subarray(0, length), STORE), `${length} of ${bytes.length} bytes`);
  assert.throws(() => decodeSnapshot(bytes.subarray(0, bytes.length - 1), STORE));
  assert.throws(() => decodeSnapshot(new Uint8Array([...bytes, 0, 0, 0, 0, 0, 0, 0, 0]), STORE));
});
it('a snapshot of garbage throws or is refused', () =>
  holds(100, [fc.uint8Array({ maxLength: 300, size: 'max' })], (bytes) => {
    let index: DomainIndex | undefined;
    try {
      index = decodeSnapshot(bytes, STORE);
    } catch {}
    assert.equal(index, undefined);
  }));
it('a snapshot with a byte changed throws, or gives a consistent index: detecting the change is the task of the checksum', () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 20 });
  holds(6, [contents, changes], (all, flips) => {
    const index = indexOf(all);
    const bytes = encodeSnapshot(index, STORE);
    const { start } = headerOf(bytes);
    for (const [offset, by] of flips) {
      const at = start + (offset % (bytes.length - start));
      try {
        const again = decodeSnapshot(bytes.with(at, (bytes[at] ?? 0) ^ by), STORE) ?? assert.fail('is refused');
        // Names may have lost their order; nothing else depends on a byte of a name.
        assert.equal(again.size, index.size);
        for (const id of again.names.sorted.numbers())
          assert.equal(again.services(id).length, again.columns.services(id).length);
      } catch (error) {
        assert.match(String(error), /the snapshot is inconsistent/);
      }
    }
  });
});
it('a snapshot whose columns do not fit each other throws and names one', () => {
  const bytes = encodeSnapshot(sampleIndex(), STORE);
  const broken = (column: string, change: (header: Header) => unknown) =>
    assert.throws(() => decodeSnapshot(changedHeader(bytes, change), STORE), new RegExp(`is inconsistent: ${column}`));
  const brokenWith = (column: string, members: object) => broken(column, (header) => Object.assign(header, members));
  for (const members of [{ placements: [] }, { builds: [] }]) brokenWith('pool', members);
  for (const members of [{ placements: [[99, 0]] }, { placements: [[0, 99]] }]) brokenWith('placements', members);
  brokenWith('position', { position: undefined });
  const builds = (header: Header) => (header.builds as unknown[][]).filter((build) => build !== null);
  for (const at of [0, 1, 2]) broken('builds', (header) => builds(header)[0]?.splice(at, 1, 99));
  broken('builds', (header) => builds(header)[0]?.splice(0, 1, '0'));
  broken('builds', (header) => builds(header)[0]?.splice(0, 3, ...(builds(header)[1] ?? [])));
  broken('providers', (header) => (header.providers as string[]).fill('one'));
  broken('placements', ({ placements }) => (placements as unknown[]).splice(1, 1, (placements as unknown[])[0]));
  broken('scans', (header) => Object.assign(header.history as object, { scans: [[20_000], []] }));
  broken('migrationKeys', (header) => Object.assign(header.history as object, { migrating: [] }));
  broken('seriesLengths', (header) => (header.history as { series: string[][] }).series[0]?.pop());
});
it('a snapshot with a value that points nowhere throws and names its column', () => {
  const bytes = encodeSnapshot(sampleIndex(), STORE);
  const [first = 0, second = 0, ...rest] = sampleIndex().names.sorted.numbers();
  const used = [first, second, ...rest].find((id) => sampleIndex().columns.services(id).length > 0) ?? 0;
  for (const [name, at, value] of [
    ['nameStarts', first, 2 ** 31],
    ['nameOrder', 0, second],
    ['nameOrder', 0, 2 ** 31],
    ['state', first, 4],
    ['sector', first, 200],
    ['score', first, 101],
    ['country', first, 677],
    ['pool', 0, 2 ** 31],
    ['pool', 0, 3],
    ['starts', used, 2 ** 31],
  ] as const) {
    const changed = changedColumn(bytes, name, at, value);
    assert.throws(() => decodeSnapshot(changed, STORE), new RegExp(`is inconsistent: ${name}`));
  }
  assert.throws(() => decodeSnapshot(changedColumn(bytes, 'seriesLengths', 0, 9), STORE), /series/);
});
