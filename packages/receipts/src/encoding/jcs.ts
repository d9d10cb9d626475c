// RFC 8785 (JCS): the canonical text of a JSON value, so that a signature is independent of its formatting.

/** Deeper values are rejected: no answer nests this deeply, and hostile input must not exhaust the stack. */
const MAX_DEPTH = 256;

/** The value is not JSON data that RFC 8785 can represent. */
export class CanonicalFormError extends Error {
  override readonly name = 'CanonicalFormError';
}

/**
 * RFC 8785 text of a JSON value. Throws CanonicalFormError for anything that JSON cannot represent: NaN, infinities, undefined,
 * functions, symbols, big integers, objects that are not plain, lone surrogates, cycles and extreme depth.
 */
export function canonicalize(value: unknown): string {
  return canonicalForm(value, 0).text;
}

/** The same for a value that is nested so deeply, and whether its members are in this order already: `JSON.stringify` then gives the same text. */
export function canonicalForm(value: unknown, depth: number): { readonly text: string; readonly isSorted: boolean } {
  if (typeof value !== 'object') return { text: write(value, depth), isSorted: true };
  if (isSorted(value, depth)) {
    // The engine's writer is the fastest. It writes a lone surrogate as an escape.
    const text = JSON.stringify(value);
    if (!text.includes('\\ud')) return { text, isSorted: true };
  }
  return { text: write(value, depth), isSorted: false };
}

/** Whether it is plain data whose members are in canonical order, so that ECMAScript writes its RFC 8785 text. */
function isSorted(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'number' ? Number.isFinite(value) : PLAIN_TYPES.has(typeof value);
  }
  if (depth === MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!isSorted(value[index], depth + 1)) return false;
    return true;
  }
  if (!isPlain(value)) return false;
  let last: string | undefined;
  for (const name in value) {
    if (last !== undefined && last >= name) return false;
    if (!isSorted((value as Record<string, unknown>)[name], depth + 1)) return false;
    last = name;
  }
  return true;
}

const PLAIN_TYPES: ReadonlySet<string> = new Set(['string', 'boolean', 'object']);

/** Whether it has the members of a JSON object: no class, and no array. */
export function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === Object.prototype || prototype === null;
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return writeString(value);
    case 'number':
      // Section 3.2.2.3: the ECMAScript form, which writes -0 as 0.
      if (!Number.isFinite(value)) throw new CanonicalFormError(`${value} is not a JSON number`);
      return String(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (depth === MAX_DEPTH) throw new CanonicalFormError(`nested deeper than ${MAX_DEPTH} levels`);
      return Array.isArray(value) ? writeArray(value, depth + 1) : writeObject(value, depth + 1);
    default:
      throw new CanonicalFormError(`a value of type ${typeof value} is not JSON`);
  }
}

/** Printable ASCII without quote and backslash: most strings, which need no escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

function writeString(text: string): string {
  if (text.length <= 64 && PLAIN.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw new CanonicalFormError('a string has a lone surrogate');
  // ECMAScript's escapes are those of section 3.2.2.2.
  return JSON.stringify(text);
}

function writeArray(items: readonly unknown[], depth: number): string {
  let text = '[';
  for (let index = 0; index < items.length; index++) {
    if (index > 0) text += ',';
    text += write(items[index], depth);
  }
  return `${text}]`;
}

function writeObject(object: object, depth: number): string {
  if (!isPlain(object)) throw new CanonicalFormError('an object with its own prototype is not plain data');
  const members = object as Record<string, unknown>;
  let text = '{';
  const { names, written, sorted } = shapeOf(members);
  for (const at of sorted) {
    if (text.length > 1) text += ',';
    text += written[at] + write(members[names[at] as string], depth);
  }
  return `${text}}`;
}

/** Cache of recent shapes by number of names: most objects have the names of an earlier one. */
const shapes: (Shape[] | undefined)[] = [];
const MAX_SHAPES = 8;

interface Shape {
  readonly names: readonly string[];
  /** The text that precedes the value of each. */
  readonly written: readonly string[];
  /** The index of each, in sorted order. */
  readonly sorted: readonly number[];
}

/** Section 3.2.3: sorted by UTF-16 code units, which is the default order of sort(). */
export function shapeOf(members: Record<string, unknown>): Shape {
  const names = Object.keys(members);
  const known = shapes[names.length] ?? [];
  for (const shape of known) if (isSameList(shape.names, names)) return shape;
  const written = names.map((name) => `${writeString(name)}:`);
  const sorted = [...names.keys()].sort((a, b) => ((names[a] as string) < (names[b] as string) ? -1 : 1));
  const shape = { names, written, sorted };
  if (names.length < 64) shapes[names.length] = [shape, ...known.slice(0, MAX_SHAPES - 1)];
  return shape;
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}
