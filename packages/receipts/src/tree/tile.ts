// Tiles of the tree: coordinates, paths and entry bundles (c2sp.org/tlog-tiles).

/** Hashes of a full tile; a tile is a subtree of height 8, c2sp.org/tlog-tiles. */
export const TILE_WIDTH = 256;
export const TILE_HEIGHT = 8;

/** Entry lengths are 16 bits. */
export const MAX_ENTRY_BYTES = 0xffff;

/** A tile of hashes (levels 0 to 63) or of entries; a partial tile has a `width` below 256. */
export interface TileAddress {
  readonly level: number | 'entries';
  readonly index: number;
  readonly width: number;
}

/** Path below the log's prefix, such as `tile/0/x001/x234/067.p/8`. */
export function tilePath({ level, index, width }: TileAddress): string {
  let digits = String(index);
  digits = digits.padStart(Math.ceil(digits.length / 3) * 3, '0');
  const groups = digits.match(/\d{3}/g) ?? [];
  const name = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
  return `tile/${level}/${name}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

const TILE_PATH = /^tile\/(entries|0|[1-9]\d?)\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;

/** Address of a tile path, or undefined if it is not the canonical path of a tile. */
export function parseTilePath(path: string): TileAddress | undefined {
  const match = TILE_PATH.exec(path);
  if (!match) return undefined;
  const [, levelText = '', name = '', widthText] = match;
  const level: TileAddress['level'] = levelText === 'entries' ? 'entries' : Number(levelText);
  const index = Number(name.replaceAll(/[x/]/g, ''));
  const width = widthText === undefined ? TILE_WIDTH : Number(widthText);
  if (level !== 'entries' && level > 63) return undefined;
  const address = { level, index, width };
  // The round trip rejects superfluous leading groups (`x000/001`) and `.p/256`.
  return tilePath(address) === path ? address : undefined;
}

/** Number of hashes, or entries, of the tree of `size` leaves at a tile level. */
export const hashesAtLevel = (size: number, level: TileAddress['level']): number =>
  level === 'entries' ? size : Math.floor(size / TILE_WIDTH ** level);

/** Number of hashes or entries of the tree of `size` leaves in a tile; not above zero if the tile does not exist. */
export function tileWidth(size: number, level: TileAddress['level'], index: number): number {
  return Math.min(TILE_WIDTH, hashesAtLevel(size, level) - index * TILE_WIDTH);
}

/** All tiles of a tree of `size` leaves: hash tiles and entry bundles, full and partial. */
export function* tilesOfTree(size: number): Generator<TileAddress> {
  const levels: TileAddress['level'][] = ['entries'];
  for (let level = 0; hashesAtLevel(size, level) > 0; level++) levels.push(level);
  for (const level of levels) {
    for (let index = 0; tileWidth(size, level, index) > 0; index++) {
      yield { level, index, width: tileWidth(size, level, index) };
    }
  }
}

/** Encodes entries, each after its 16-bit big-endian length. Throws RangeError for an entry that is too large. */
export function encodeEntries(entries: readonly Uint8Array[]): Uint8Array {
  const bundle = new Uint8Array(entries.reduce((bytes, entry) => bytes + 2 + entry.length, 0));
  let at = 0;
  for (const entry of entries) {
    if (entry.length > MAX_ENTRY_BYTES) throw new RangeError(`an entry of ${entry.length} bytes is too large`);
    bundle[at] = entry.length >> 8;
    bundle[at + 1] = entry.length;
    bundle.set(entry, at + 2);
    at += 2 + entry.length;
  }
  return bundle;
}

/** Entries of a bundle as views, or undefined if the lengths do not match its size. */
export function decodeEntries(bundle: Uint8Array): Uint8Array[] | undefined {
  const entries: Uint8Array[] = [];
  let at = 0;
  while (at < bundle.length) {
    if (at + 2 > bundle.length) return undefined;
    const end = at + 2 + (((bundle[at] ?? 0) << 8) | (bundle[at + 1] ?? 0));
    if (end > bundle.length) return undefined;
    entries.push(bundle.subarray(at + 2, end));
    at = end;
  }
  return entries;
}
