// Sets in a snapshot: those of one kind, by term, many in a chunk. Of each set the arrays follow one another, those of all
// sets with the same width in one column.
import { DomainSet, type SetArrays } from '../sets/domain-set.ts';
import { type Lows, offsetsOf, type Shift } from '../sets/member-arrays.ts';
import { countBits } from '../sets/set-kernels.ts';
import { SparseMembers } from '../sets/sparse-members.ts';
import { expect } from './snapshot-checks.ts';
import { encodeChunk } from './snapshot-chunk.ts';

/** By term. */
export type Sets = readonly (DomainSet | undefined)[];
export type SetColumns = Readonly<
  Record<'terms' | 'sizes' | 'lengths' | 'words', Uint32Array<ArrayBuffer>> & {
    readonly shifts: Uint8Array<ArrayBuffer>;
    readonly halves: Uint16Array<ArrayBuffer>;
    readonly bytes: Uint8Array<ArrayBuffer>;
  }
>;

/** More than there are terms of any kind. */
const MAX_TERMS = 1 << 24;
/** A chunk ends with the set that exceeds it. */
const CHUNK_BYTES = 1 << 22;

interface Shared {
  readonly term: number;
  readonly arrays: SetArrays;
  readonly release: () => void;
}

/** The sets as they are now; a change before their chunk is encoded leaves these as they are. */
export function shareSets(sets: Sets): readonly Shared[] {
  const shared: Shared[] = [];
  for (const [term, set] of sets.entries()) if (set && set.size > 0) shared.push({ term, ...set.share() });
  return shared;
}

export function* chunksOfSets(kind: string, shared: readonly Shared[]): Generator<Uint8Array<ArrayBuffer>> {
  for (let from = 0, to = 0; from < shared.length; from = to) {
    for (let size = 0; to < shared.length && size < CHUNK_BYTES; to += 1) size += sizeOf(shared[to] as Shared);
    const some = shared.slice(from, to);
    const chunk = encodeChunk({ sets: kind }, columnsOf(some));
    for (const { release } of some) release();
    yield chunk;
  }
}

const sizeOf = ({ arrays: { lows, bases, offsets } }: Shared): number =>
  lows.byteLength + bases.byteLength + offsets.byteLength;

function columnsOf(shared: readonly Shared[]): SetColumns {
  const arrays = shared.map((each) => each.arrays);
  const ofWidth = (bytes: number) => (each: Lows) => each.BYTES_PER_ELEMENT === bytes;
  const all = arrays.flatMap(({ lows, bases, offsets }) => [bases, offsets, lows]);
  return {
    terms: Uint32Array.from(shared, ({ term }) => term),
    shifts: Uint8Array.from(arrays, ({ shift }) => shift),
    sizes: Uint32Array.from(arrays, ({ lows }) => lows.length),
    lengths: Uint32Array.from(arrays, ({ bases }) => bases.length),
    words: joined(new Uint32Array(total(all.filter(ofWidth(4)))), all.filter(ofWidth(4))),
    halves: joined(new Uint16Array(total(all.filter(ofWidth(2)))), all.filter(ofWidth(2))),
    bytes: joined(new Uint8Array(total(all.filter(ofWidth(1)))), all.filter(ofWidth(1))),
  };
}

const total = (parts: readonly Lows[]): number => parts.reduce((sum, { length }) => sum + length, 0);

function joined<To extends Lows>(all: To, parts: readonly Lows[]): To {
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Adds the sets of a chunk to those of their kind. Throws where the arrays do not fit each other, or members `limit`. */
export function readSets(
  { terms, shifts, sizes, lengths, ...columns }: SetColumns,
  { sets, limit }: { readonly sets: (DomainSet | undefined)[]; readonly limit: number },
): void {
  const { length } = terms;
  expect(
    'sets',
    [shifts, sizes, lengths].every((column) => column?.length === length),
  );
  const used = { words: 0, halves: 0, bytes: 0 };
  const next = <Of extends keyof typeof used>(column: Of, count: number) => {
    const from = used[column];
    used[column] = from + count;
    expect('sets', columns[column]?.length >= from + count);
    return columns[column].slice(from, from + count) as SetColumns[Of];
  };
  for (let i = 0; i < length; i += 1) {
    const [shift, size, groups] = [shifts[i] as Shift | 0, sizes[i] as number, (lengths[i] as number) - 1];
    expect('sets', [0, 8, 16, 32].includes(shift) && size > 0 && groups < 2 ** 16);
    expect('sets', (terms[i] as number) < MAX_TERMS);
    const bases = next('words', groups + 1);
    const offsets = next('halves', shift === 8 ? offsetsOf(8, groups) : 0);
    const lows = next(shift === 8 ? 'bytes' : shift === 16 ? 'halves' : 'words', size);
    if (shift === 8 || shift === 16) checkStarts({ bases, offsets, size });
    if (shift === 32)
      expect(
        'sets',
        lows.every((member, at) => at === 0 || member > (lows[at - 1] as number)),
      );
    const set = shift === 0 ? ofBits(lows) : DomainSet.ofSorted(new SparseMembers({ shift, lows, bases, offsets }));
    expect('sets', (set.sparse?.last ?? 0) < limit);
    sets[terms[i] as number] = set;
  }
  expect(
    'sets',
    Object.entries(used).every(([column, count]) => columns[column as keyof typeof used].length === count),
  );
}

const ofBits = (lows: Lows): DomainSet => {
  const bits = lows as Uint32Array<ArrayBuffer>;
  return new DomainSet({ bits, size: countBits(bits) });
};

/** The chunks begin one after the other, and the members end with the last one. */
function checkStarts({ bases, offsets, size }: Pick<SetArrays, 'bases' | 'offsets'> & { readonly size: number }): void {
  const groups = bases.length - 1;
  expect('sets', groups > 0 && bases[0] === 0 && bases[groups] === size);
  const chunks = (offsets.length - 1) / groups;
  for (let group = 0; group < groups; group += 1) {
    const members = (bases[group + 1] as number) - (bases[group] as number);
    let isSound = members >= 0 && (offsets[group * chunks] ?? 0) === 0;
    for (let chunk = 1; chunk < chunks; chunk += 1) {
      const offset = offsets[group * chunks + chunk] as number;
      isSound &&= offset >= (offsets[group * chunks + chunk - 1] as number) && offset <= members;
    }
    expect('sets', isSound);
  }
  expect('sets', (offsets.at(-1) ?? 0) === 0);
}
