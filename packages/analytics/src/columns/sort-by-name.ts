// Sorts numbers by their names: as many of the first characters as fit in a number are sorted as numbers, then the runs
// of equal ones by the next characters. A comparison of names for each step would take several times as long.

interface Names {
  compare(a: number, b: number): number;
  /** The byte at an offset; 0 after the end. */
  byteAt(number: number, offset: number): number;
}

/** Codes in the order of the bytes: of its own for each character of a name, common ones for ranges of other bytes. */
const CODE_OF = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0) return 0;
  if (byte < 45) return 1;
  if (byte <= 57) return byte - 45 + 2;
  if (byte < 95) return 15;
  if (byte <= 122) return byte - 95 + 16;
  return 44;
});
const CODES = 45;
/** Codes of several bytes, and of the end: runs with one of them are compared. */
const IS_SHARED = Uint8Array.from({ length: CODES }, (_, code) => Number([0, 1, 15, 44].includes(code)));

/** Below this length a run is sorted by comparisons. */
const SHORT = 32;

export function sortByName(numbers: Uint32Array, names: Names, depth = 0): void {
  const { length } = numbers;
  if (length < SHORT) {
    numbers.sort((a, b) => names.compare(a, b));
    return;
  }
  const width = Math.floor(Math.log(Number.MAX_SAFE_INTEGER / length) / Math.log(CODES));
  const keys = new Float64Array(length);
  for (let i = 0; i < length; i += 1) {
    let code = 0;
    for (let at = depth; at < depth + width; at += 1) {
      code = code * CODES + (CODE_OF[names.byteAt(numbers[i] as number, at)] as number);
    }
    keys[i] = code * length + i;
  }
  keys.sort();
  const before = numbers.slice();
  for (let from = 0; from < length; ) {
    const code = Math.floor((keys[from] as number) / length);
    let to = from;
    for (; to < length && (keys[to] as number) < (code + 1) * length; to += 1) {
      numbers[to] = before[(keys[to] as number) - code * length] as number;
    }
    if (to > from + 1) sortRun(numbers.subarray(from, to), names, { depth, width });
    from = to;
  }
}

/** Names that are equal in their codes from `depth` on. */
function sortRun(
  run: Uint32Array,
  names: Names,
  { depth, width }: { readonly depth: number; readonly width: number },
): void {
  const first = run[0] as number;
  for (let at = depth; at < depth + width; at += 1) {
    if (IS_SHARED[CODE_OF[names.byteAt(first, at)] as number]) {
      run.sort((a, b) => names.compare(a, b));
      return;
    }
  }
  sortByName(run, names, depth + width);
}
