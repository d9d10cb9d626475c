// Filters and tests of Jinja that @huggingface/jinja lacks or defines differently
// (jinja.palletsprojects.com/en/stable/templates/#list-of-builtin-filters).
import {
  Bool,
  compare,
  Float,
  Integer,
  is,
  isEqual,
  isIn,
  isNumber,
  isTrue,
  itemsOf,
  List,
  Mapping,
  methodOf,
  None,
  nameOf,
  pairsOf,
  percentFormat,
  Text,
  textOf,
  Undefined,
  type Value,
  wrap,
} from './values.ts';

export interface FilterInput {
  readonly value: Value;
  readonly args: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
  /** Applies another filter. */
  readonly apply: (name: string, value: Value, args: readonly Value[]) => Value;
}

/** Results are plain, or a value. */
type Filter = (input: FilterInput) => Value;

const method =
  (name: string): Filter =>
  ({ value, args, named }) => {
    const found = methodOf(new Text(textOf(value)), name);
    return found?.value(named.size > 0 ? [...args, { type: 'KeywordArgumentsValue', value: named }] : args);
  };

const extreme =
  (sign: 1 | -1): Filter =>
  ({ value }) =>
    itemsOf(value).reduce<Value | undefined>(
      (best, each) => (best && compare(each, best) * sign >= 0 ? best : each),
      undefined,
    ) ?? new Undefined();

const select =
  (isKept: boolean, hasAttribute: boolean): Filter =>
  ({ value, args }) => {
    const [path, ...rest] = hasAttribute ? args : [undefined, ...args];
    const [name, ...of] = rest;
    const test = name ? testOf(textOf(name)) : isTrue;
    // Python's filter does not iterate over what is false, None included.
    const items = isTrue(value) ? itemsOf(value) : [];
    return new List(items.filter((each) => test(path ? attributeOf(each, textOf(path)) : each, ...of) === isKept));
  };

const or = ({ value, args, named }: FilterInput): Value => {
  const isFalsy = args[1] ?? named.get('boolean');
  const isReplaced = is(value, Undefined) || (isFalsy !== undefined && isTrue(isFalsy) && !isTrue(value));
  return isReplaced ? (args[0] ?? named.get('default_value') ?? new Text('')) : value;
};

/** Sorts by what `of` takes of an item; case counts only if asked for. */
function sorted(items: readonly Value[], of: (item: Value) => Value, { args, named }: FilterInput): Value {
  const [reverse, isExact] = [args[0] ?? named.get('reverse'), args[1] ?? named.get('case_sensitive')];
  const isSensitive = isExact !== undefined && isTrue(isExact);
  const key = (item: Value) => {
    const value = of(item);
    return is(value, Text) && !isSensitive ? new Text(value.value.toLowerCase()) : value;
  };
  const sign = reverse !== undefined && isTrue(reverse) ? -1 : 1;
  return new List(items.toSorted((a, b) => sign * compare(key(a), key(b))));
}

const size: Filter = ({ value }) => new Integer(itemsOf(value).length);

export const filters: Readonly<Record<string, Filter>> = {
  default: or,
  d: or,
  string: ({ value }) => new Text(textOf(value)),
  length: size,
  count: size,
  list: ({ value }) => new List([...itemsOf(value)]),
  items: ({ value }) => pairsOf(value),
  first: ({ value }) => itemsOf(value)[0] ?? new Undefined(),
  last: ({ value }) => itemsOf(value).at(-1) ?? new Undefined(),
  min: extreme(1),
  max: extreme(-1),
  sum: ({ value }) => wrap(itemsOf(value).reduce((sum, each) => sum + each.value, 0)),
  reverse: ({ value }) =>
    is(value, Text) ? new Text([...value.value].reverse().join('')) : new List(itemsOf(value).toReversed()),
  sort: (input) => {
    const path = input.args[2] ?? input.named.get('attribute');
    return sorted(itemsOf(input.value), (item) => (path ? attributeOf(item, textOf(path)) : item), input);
  },
  dictsort: (input) => {
    const [isExact, by, reverse] = input.args;
    const at = textOf(by ?? input.named.get('by') ?? new Text('key')) === 'value' ? 1 : 0;
    const args = [reverse, isExact].map((each) => each ?? new Undefined());
    const named = [...input.named].length > 0 ? { named: input.named, args: [] } : { args };
    return sorted(itemsOf(pairsOf(input.value)), (pair) => pair.value[at], { ...input, ...named });
  },
  join: ({ value, args, named }) => {
    const path = args[1] ?? named.get('attribute');
    const items = itemsOf(value).map((each) => (path ? attributeOf(each, textOf(path)) : each));
    return new Text(items.map(textOf).join(textOf(args[0] ?? named.get('d') ?? new Text(''))));
  },
  map: ({ value, args, named, apply }) => {
    const path = named.get('attribute');
    const otherwise = named.get('default');
    const [name, ...rest] = args;
    const mapped = (each: Value) => {
      if (!path) return apply(name ? textOf(name) : '', each, rest);
      const found = attributeOf(each, textOf(path));
      return is(found, Undefined) && otherwise ? otherwise : found;
    };
    return new List((isTrue(value) ? itemsOf(value) : []).map(mapped));
  },
  select: select(true, false),
  reject: select(false, false),
  selectattr: select(true, true),
  rejectattr: select(false, true),
  format: ({ value, args }) => new Text(percentFormat(textOf(value), args)),
  trim: method('strip'),
  upper: method('upper'),
  lower: method('lower'),
  // Unlike Python's method, a word goes on after an apostrophe or a digit.
  title: ({ value }) =>
    new Text(
      textOf(value).replace(/[^-\s({[<]+/g, (word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase()),
    ),
  capitalize: method('capitalize'),
  replace: method('replace'),
};

type Test = (value: Value, of?: Value) => boolean;

const equal: Test = (value, of) => of !== undefined && isEqual(value, of);
const within: Test = (value, of) => of !== undefined && isIn(value, of);
const isSequence: Test = (value) => is(value, List) || is(value, Mapping) || is(value, Text);

const tests: Readonly<Record<string, Test>> = {
  defined: (value) => !is(value, Undefined),
  undefined: (value) => is(value, Undefined),
  none: (value) => is(value, None),
  boolean: (value) => is(value, Bool),
  true: (value) => is(value, Bool) && value.value,
  false: (value) => is(value, Bool) && !value.value,
  string: (value) => is(value, Text),
  number: (value) => isNumber(value) || is(value, Bool),
  integer: (value) => is(value, Integer),
  float: (value) => is(value, Float),
  mapping: (value) => is(value, Mapping),
  iterable: (value) => isSequence(value) || is(value, Undefined),
  sequence: isSequence,
  callable: (value) => nameOf(value) === 'function',
  odd: (value) => value.value % 2 !== 0,
  even: (value) => value.value % 2 === 0,
  lower: (value) => textOf(value) === textOf(value).toLowerCase(),
  upper: (value) => textOf(value) === textOf(value).toUpperCase(),
  divisibleby: (value, of) => value.value % of?.value === 0,
  eq: equal,
  equalto: equal,
  '==': equal,
  ne: (value, of) => !equal(value, of),
  in: within,
};

/** Throws for a test that Jinja does not have. */
export function testOf(name: string): Test {
  const test = Object.hasOwn(tests, name) ? tests[name] : undefined;
  if (!test) throw new Error(`no test named '${name}'`);
  return test;
}

function attributeOf(value: Value, path: string): Value {
  let at = value;
  for (const name of path.split('.')) {
    const next = at.value instanceof Map ? at.value.get(name) : is(at, List) ? at.value[Number(name)] : undefined;
    at = next ?? new Undefined();
  }
  return at;
}
