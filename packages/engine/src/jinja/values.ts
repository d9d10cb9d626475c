// Values of @huggingface/jinja with the semantics of Python: text, equality, order, methods of texts and mappings.
import { Environment } from '@huggingface/jinja';

/** A value of a template at run time. `value` of a list is an array of values, of a mapping a Map. */
export interface Value {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: its type depends on the class.
  readonly value: any;
  readonly builtins: ReadonlyMap<string, Value>;
  __bool__(): Value;
}
type ValueClass = new (value?: unknown) => Value;

/** The value of plain data; a function receives and returns plain data. */
export const wrap = (data: unknown): Value => new Environment().set('value', data);
/** The library does not export its classes. */
const classOf = (sample: unknown) => wrap(sample).constructor as ValueClass;
export const Text = classOf('');
export const Integer = classOf(1);
export const Float = classOf(0.5);
export const Bool = classOf(true);
export const None = classOf(null);
export const Undefined = classOf(undefined);
export const List = classOf([]);
export const Mapping = classOf({});
export const Callable = classOf(() => null);

const TUPLE = 'TupleValue';
export const tuple = (items: readonly Value[]): Value => Object.assign(new List(items), { type: TUPLE });

/** Not `instanceof`: to TypeScript all classes of values are alike. */
export function is(value: Value | undefined, kind: ValueClass): boolean {
  return Object(value) instanceof kind;
}

export const isTrue = (value: Value): boolean => value.__bool__().value;
export const isNumber = (value: Value): boolean => is(value, Integer) || is(value, Float);
const isNumeric = (value: Value) => isNumber(value) || is(value, Bool);

/** `str(value)`. */
export function textOf(value: Value): string {
  if (is(value, Text)) return value.value;
  if (is(value, Undefined)) return '';
  return notation(value);
}

/** `repr(value)`. */
function notation(value: Value): string {
  if (is(value, Text)) return quoted(value.value);
  if (is(value, None)) return 'None';
  if (is(value, Undefined)) return 'Undefined';
  if (is(value, Bool)) return value.value ? 'True' : 'False';
  if (value.type === TUPLE) return `(${value.value.map(notation).join(', ')}${value.value.length === 1 ? ',' : ''})`;
  if (is(value, List)) return `[${value.value.map(notation).join(', ')}]`;
  if (value.value instanceof Map)
    return `{${[...value.value].map(([name, each]) => `${notation(wrap(name))}: ${notation(each)}`).join(', ')}}`;
  return String(value);
}

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return quote + (quote === "'" ? inner.replaceAll("'", "\\'") : inner) + quote;
}

/** `a == b`. */
export function isEqual(a: Value, b: Value): boolean {
  if (isNumeric(a) && isNumeric(b)) return Number(a.value) === Number(b.value);
  if (a.constructor !== b.constructor) return false;
  if (is(a, List))
    return a.value.length === b.value.length && a.value.every((each: Value, i: number) => isEqual(each, b.value[i]));
  if (is(a, Mapping))
    return (
      a.value.size === b.value.size &&
      [...a.value].every(([name, each]) => b.value.has(name) && isEqual(each, b.value.get(name)))
    );
  return a.value === b.value;
}

/** Negative, 0 or positive. Throws where Python does not order the two. */
export function compare(a: Value, b: Value): number {
  if (isNumeric(a) && isNumeric(b)) return Number(a.value) - Number(b.value);
  if (is(a, Text) && is(b, Text)) return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
  throw new Error(`${nameOf(a)} and ${nameOf(b)} have no order`);
}

/** `item in container`. */
export function isIn(item: Value, container: Value): boolean {
  if (is(container, Text) && is(item, Text)) return container.value.includes(item.value);
  if (is(container, Mapping)) return container.value.has(item.value);
  return itemsOf(container).some((each) => isEqual(each, item));
}

/** What a loop iterates over: items, names of a mapping, letters; nothing if undefined. */
export function itemsOf(value: Value): readonly Value[] {
  if (is(value, List)) return value.value;
  if (is(value, Mapping)) return [...value.value.keys()].map(wrap);
  if (is(value, Text)) return [...value.value].map(wrap);
  if (is(value, Undefined)) return [];
  throw new Error(`${nameOf(value)} is not iterable`);
}

export function pairsOf(value: Value): Value {
  if (is(value, Undefined)) return new List([]);
  if (!is(value, Mapping)) throw new Error(`${nameOf(value)} has no items`);
  return new List([...value.value].map(([name, each]) => tuple([wrap(name), each])));
}

export const nameOf = (value: Value): string => value.type.replace(/Value$/, '').toLowerCase();

/** `format % values`, with the conversions that templates use. */
export function percentFormat(format: string, values: readonly Value[]): string {
  let next = 0;
  return format.replace(
    /%([-0]*)(\d{0,3})(?:\.(\d))?([sdrf%])/g,
    (_, flags: string, width: string, digits: string | undefined, kind: string) => {
      if (kind === '%') return '%';
      const value = values[next++];
      if (!value) throw new Error('not enough arguments for format string');
      const text = converted(value, kind, digits);
      if (flags.includes('-')) return text.padEnd(Number(width));
      const sign = flags.includes('0') && /[df]/.test(kind) ? (/^-?/.exec(text)?.[0] ?? '') : undefined;
      if (sign === undefined) return text.padStart(Number(width));
      return sign + text.slice(sign.length).padStart(Number(width) - sign.length, '0');
    },
  );
}

function converted(value: Value, kind: string, digits: string | undefined): string {
  if (kind === 'd') return String(Math.trunc(value.value));
  if (kind === 'f') return Number(value.value).toFixed(Number(digits ?? 6));
  return kind === 'r' ? notation(value) : textOf(value);
}

type Method = (self: never, args: readonly Value[], named: ReadonlyMap<string, Value>) => unknown;

/** Methods that the library lacks or has otherwise; the rest are its own. Results are plain, or a value. */
const textMethods: Readonly<Record<string, Method>> = {
  capitalize: (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase(),
  title: (text: string) =>
    text.replace(/\p{L}+/gu, (word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase()),
  strip: (text: string, [letters]) => stripped(text, letters, { start: true, end: true }),
  lstrip: (text: string, [letters]) => stripped(text, letters, { start: true, end: false }),
  rstrip: (text: string, [letters]) => stripped(text, letters, { start: false, end: true }),
  join: (text: string, [items]) => (items ? itemsOf(items) : []).map(textOf).join(text),
  find: (text: string, [part]) => text.indexOf(part?.value),
  rfind: (text: string, [part]) => text.lastIndexOf(part?.value),
  count: (text: string, [part]) => text.split(part?.value).length - 1,
  split: (text: string, args, named) => {
    const [separator, max] = [args[0] ?? named.get('sep'), args[1] ?? named.get('maxsplit')];
    const method = new Text(text).builtins.get('split');
    return method?.value([separator ?? new None(null), max ?? new Integer(-1)]);
  },
  rsplit: (text: string, [separator, max]) => {
    const parts = text.split(separator?.value ?? /\s+/);
    const kept = Math.min(max?.value ?? parts.length, parts.length - 1);
    return [parts.slice(0, parts.length - kept).join(separator?.value ?? ' '), ...parts.slice(parts.length - kept)];
  },
  splitlines: (text: string) => (text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r\n|\r|\n/)),
  partition: (text: string, [separator]) => separated(text, text.indexOf(separator?.value), separator?.value, 'first'),
  rpartition: (text: string, [separator]) =>
    separated(text, text.lastIndexOf(separator?.value), separator?.value, 'last'),
  removeprefix: (text: string, [part]) => (text.startsWith(part?.value) ? text.slice(part?.value.length) : text),
  removesuffix: (text: string, [part]) =>
    part?.value !== '' && text.endsWith(part?.value) ? text.slice(0, -part?.value.length) : text,
  isdigit: (text: string) => /^\p{Nd}+$/u.test(text),
  isalpha: (text: string) => /^\p{L}+$/u.test(text),
  isalnum: (text: string) => /^[\p{L}\p{N}]+$/u.test(text),
  isspace: (text: string) => /^\s+$/.test(text),
  isupper: (text: string) => text !== text.toLowerCase() && text === text.toUpperCase(),
  islower: (text: string) => text !== text.toUpperCase() && text === text.toLowerCase(),
  format: (text: string, args, named) => {
    let next = 0;
    return text.replace(/\{\{|\}\}|\{(\w*)\}/g, (found, field: string | undefined) => {
      if (field === undefined) return found.slice(1);
      const value = named.get(field) ?? args[field === '' ? next++ : Number(field)];
      if (!value) throw new Error(`there is no value for ${found}`);
      return textOf(value);
    });
  },
};

const mappingMethods: Readonly<Record<string, Method>> = {
  get: (map: ReadonlyMap<unknown, Value>, [name, otherwise]) => map.get(name?.value) ?? otherwise ?? null,
  keys: (map: ReadonlyMap<unknown, Value>) => [...map.keys()],
  values: (map: ReadonlyMap<unknown, Value>) => new List([...map.values()]),
  items: (map: ReadonlyMap<unknown, Value>) => new List([...map].map(([name, each]) => tuple([wrap(name), each]))),
};

function stripped(text: string, letters: Value | undefined, { start, end }: { start: boolean; end: boolean }): string {
  const isStripped = (letter: string) =>
    letters && !is(letters, None) ? letters.value.includes(letter) : letter.trim() === '';
  const all = [...text];
  const from = start ? all.findIndex((each) => !isStripped(each)) : 0;
  const to = end ? all.findLastIndex((each) => !isStripped(each)) + 1 : all.length;
  return from < 0 ? '' : all.slice(from, to).join('');
}

function separated(text: string, at: number, separator: string, missing: 'first' | 'last'): string[] {
  if (at < 0) return missing === 'first' ? [text, '', ''] : ['', '', text];
  return [text.slice(0, at), separator, text.slice(at + separator.length)];
}

/** A method bound to its value; undefined: it has none of this name. */
export function methodOf(value: Value, name: string): Value | undefined {
  const methods = is(value, Text) ? textMethods : is(value, Mapping) ? mappingMethods : undefined;
  if (!methods || !Object.hasOwn(methods, name))
    return is(value, Text) && name !== 'length' ? value.builtins.get(name) : undefined;
  const method = methods[name];
  return new Callable((given: readonly Value[]) => {
    const last = given.at(-1);
    const isNamed = last?.type === 'KeywordArgumentsValue';
    const result = method?.(
      value.value as never,
      isNamed ? given.slice(0, -1) : given,
      isNamed ? last.value : new Map(),
    );
    return isValue(result) ? result : wrap(result);
  });
}

const isValue = (given: unknown): given is Value => typeof given === 'object' && given !== null && '__bool__' in given;
