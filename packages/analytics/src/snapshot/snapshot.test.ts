import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc } from '../../../../tests/support/property.ts';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { DomainIndex } from '../index/domain-index.ts';
import { checkIndex } from '../test/check-index.ts';
import { changes, scans } from '../test/random-changes.ts';
import { PROVIDERS, steps, takeStep } from '../test/random-domains.ts';
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

const encoded = (index: DomainIndex): Uint8Array[] => [...encodeSnapshot(index, STORE)];

async function decoded(chunks: readonly Uint8Array[]): Promise<DomainIndex> {
  const index = await decodeSnapshot(chunks, STORE);
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

interface ChunkHead {
  readonly about: Header;
  readonly columns: readonly {
    readonly name: string;
    readonly type: 'u8' | 'u16' | 'u32' | 'f64';
    readonly length: number;
  }[];
}

function headOf(chunk: Uint8Array): { readonly head: ChunkHead; readonly start: number } {
  const length = new DataView(chunk.buffer, chunk.byteOffset).getUint32(0, true);
  return { head: JSON.parse(new TextDecoder().decode(chunk.subarray(4, 4 + length))), start: aligned(4 + length) };
}

function changedHeader(
  [chunk = new Uint8Array(), ...rest]: readonly Uint8Array[],
  change: (header: Header) => unknown,
) {
  const { head, start } = headOf(chunk);
  change(head.about);
  const text = new TextEncoder().encode(JSON.stringify(head));
  const padding = new Uint8Array(aligned(4 + text.length) - 4 - text.length);
  const length = new Uint8Array(Uint32Array.of(text.length).buffer);
  return [new Uint8Array([...length, ...text, ...padding, ...chunk.subarray(start)]), ...rest];
}

function changedColumn(chunks: readonly Uint8Array[], name: string, at: number, value: number): Uint8Array[] {
  return chunks.map((chunk) => {
    const changed = chunk.slice();
    const view = new DataView(changed.buffer);
    const { head, start: from } = headOf(chunk);
    let start = from;
    for (const column of head.columns) {
      const width = { u8: 1, u16: 2, u32: 4, f64: 8 }[column.type];
      if (column.name === name && width === 1) view.setUint8(start + at, value);
      if (column.name === name && width === 2) view.setUint16(start + at * 2, value, true);
      if (column.name === name && width === 4) view.setUint32(start + at * 4, value, true);
      start = aligned(start + column.length * width);
    }
    return changed;
  });
}

const half = fc.nat(100);
it('a snapshot gives the same index, read from anywhere in a larger buffer, which goes on like the old one', () =>
  fc.assert(
    fc.asyncProperty(contents, half, fc.nat(9), async (all, half, shift) => {
      const first = { ...all, steps: all.steps.slice(0, half) };
      const second = { ...all, steps: all.steps.slice(half) };
      const buffers = encoded(indexOf(first)).map((bytes) => {
        const buffer = Buffer.alloc(bytes.length + 20, 0xaa);
        buffer.set(bytes, shift);
        return buffer.subarray(shift, shift + bytes.length);
      });
      const again = await decoded(buffers);
      for (const buffer of buffers) buffer.fill(0xff);
      assert.deepEqual(described(again), described(indexOf(first)));
      checkIndex(again);
      take(again, second);
      assert.deepEqual(described(again), described(indexOf(first, second)));
      checkIndex(again);
    }),
    { numRuns: 15 },
  ));
it('a snapshot is of the moment when it was begun, whatever happens to the index while it is read', () =>
  fc.assert(
    fc.asyncProperty(contents, half, fc.nat(3), async (all, half, read) => {
      const first = { ...all, steps: all.steps.slice(0, half) };
      const index = indexOf(first);
      const chunks = encodeSnapshot(index, STORE)[Symbol.iterator]();
      const begun = Array.from({ length: read }, () => chunks.next().value).filter((chunk) => chunk !== undefined);
      take(index, { ...all, steps: all.steps.slice(half) });
      const again = await decoded([...begun, ...{ [Symbol.iterator]: () => chunks }]);
      assert.deepEqual(described(again), described(indexOf(first)));
      for (const each of [again, index]) checkIndex(each);
      assert.deepEqual(described(await decoded(encoded(index))), described(index));
    }),
    { numRuns: 15 },
  ));
it('a snapshot of another store, another version or other words is refused', async () => {
  const chunks = encoded(new DomainIndex());
  const changed = (other: object) => changedHeader(chunks, (header) => Object.assign(header, other));
  assert.equal(await decodeSnapshot(chunks, 'store-2'), undefined);
  for (const other of [{ version: 1 }, { version: 9 }, { words: '[["email","dns"]]' }])
    assert.equal(await decodeSnapshot(changed(other), STORE), undefined);
  assert.equal((await decoded(changed({}))).size, 0);
  checkIndex(await decoded(changed({})));
});
it('a snapshot made with other roles gives the sets and counts of the present ones', async () => {
  const index = sampleIndex();
  const again = await decodeSnapshot(encoded(index), STORE, (category) =>
    category === 'email' ? 'gateway' : undefined,
  );
  assert.notDeepEqual(again?.vocabulary.placements, index.vocabulary.placements);
  checkIndex(again ?? assert.fail('is refused'));
});
it('a snapshot that is truncated anywhere, or longer than it was, throws', async () => {
  const chunks = encoded(sampleIndex());
  assert.ok(chunks.length > 3);
  for (const [at, chunk] of chunks.entries()) {
    await assert.rejects(decodeSnapshot(chunks.slice(0, at), STORE), `${at} of ${chunks.length} chunks`);
    if (at > 0) await assert.rejects(decodeSnapshot(chunks.toSpliced(at, 1), STORE), `without chunk ${at}`);
    for (let length = 0; length < chunk.length; length += 1 + (length >> 6))
      await assert.rejects(decodeSnapshot(chunks.with(at, chunk.subarray(0, length)), STORE), `${length} bytes`);
    await assert.rejects(decodeSnapshot(chunks.with(at, new Uint8Array([...chunk, ...Array(8).fill(0)])), STORE));
  }
  await assert.rejects(decodeSnapshot([...chunks, ...chunks.slice(-1)], STORE));
});
it('a snapshot of garbage throws or is refused', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 300, size: 'max' }), { maxLength: 2 }), async (chunks) => {
      assert.equal(await decodeSnapshot(chunks, STORE).catch(() => undefined), undefined);
    }),
  ));
it('a snapshot with a byte changed throws, or gives a consistent index: detecting the change is the task of the checksum', () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 20 });
  return fc.assert(
    fc.asyncProperty(contents, changes, async (all, flips) => {
      const index = indexOf(all);
      const chunks = encoded(index);
      for (const [which, offset, by] of flips) {
        const chunk = chunks[which % (chunks.length - 1)] as Uint8Array;
        const { start } = headOf(chunk);
        if (start === chunk.length) continue;
        const at = start + (offset % (chunk.length - start));
        const changed = chunks.with(chunks.indexOf(chunk), chunk.with(at, (chunk[at] ?? 0) ^ by));
        try {
          const again = (await decodeSnapshot(changed, STORE)) ?? assert.fail('is refused');
          // Names may have lost their order; nothing else depends on a byte of a name.
          assert.equal(again.size, index.size);
          for (const id of again.names.sorted.numbers())
            assert.equal(again.services(id).length, again.columns.services(id).length);
        } catch (error) {
          assert.match(String(error), /the snapshot is inconsistent/);
        }
      }
    }),
    { numRuns: 6 },
  );
});
it('a snapshot whose columns do not fit each other throws and names one', async () => {
  const chunks = encoded(sampleIndex());
  const broken = (column: string, change: (header: Header) => unknown) =>
    assert.rejects(decodeSnapshot(changedHeader(chunks, change), STORE), new RegExp(`is inconsistent: ${column}`));
  const brokenWith = (column: string, members: object) => broken(column, (header) => Object.assign(header, members));
  for (const members of [{ placements: [] }, { builds: [] }]) await brokenWith('pool', members);
  for (const members of [{ placements: [[99, 0]] }, { placements: [[0, 99]] }]) await brokenWith('placements', members);
  await brokenWith('position', { position: undefined });
  const builds = (header: Header) => (header.builds as unknown[][]).filter((build) => build !== null);
  for (const at of [0, 1, 2]) await broken('builds', (header) => builds(header)[0]?.splice(at, 1, 99));
  await broken('builds', (header) => builds(header)[0]?.splice(0, 1, '0'));
  await broken('builds', (header) => builds(header)[0]?.splice(0, 3, ...(builds(header)[1] ?? [])));
  await broken('providers', (header) => (header.providers as string[]).fill('one'));
  await broken('placements', ({ placements }) => (placements as unknown[]).splice(1, 1, (placements as unknown[])[0]));
  await broken('scans', (header) => Object.assign(header.history as object, { scans: [[20_000], []] }));
  await broken('migrationKeys', (header) => Object.assign(header.history as object, { migrating: [] }));
  await broken('seriesLengths', (header) => (header.history as { series: string[][] }).series[0]?.pop());
});
it('a snapshot with a value that points nowhere throws and names its column', async () => {
  const chunks = encoded(sampleIndex());
  const [first = 0, second = 0, ...rest] = sampleIndex().names.sorted.numbers();
  const used = [first, second, ...rest].find((id) => sampleIndex().columns.services(id).length > 0) ?? 0;
  for (const [name, at, value] of [
    ...casesOf<[string, number, number][]>('analytics', 'values that point nowhere'),
    ['nameEnds', first, 2 ** 16 - 1],
    ['order', 0, second],
    ['ends', used, 2 ** 16 - 1],
  ] as const) {
    const changed = changedColumn(chunks, name, at, value);
    const isOfSet = ['terms', 'shifts', 'sizes', 'lengths', 'words'].includes(name);
    const named = isOfSet ? 'sets' : name.replace('Values', '');
    await assert.rejects(decodeSnapshot(changed, STORE), new RegExp(`is inconsistent: ${named}`), name);
  }
  await assert.rejects(decodeSnapshot(changedColumn(chunks, 'seriesLengths', 0, 9), STORE), /series/);
});
