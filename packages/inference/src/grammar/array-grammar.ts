// Arrays as a rule: items in order, of which the first ones may have schemas of their own.
import { literal } from './gbnf.ts';
import type { ValueSets } from './schema/value-sets.ts';
import { type All, type ArrayShape, allOf, type Contains, type Values } from './schema/values.ts';
import { fewTexts, isEmptyTerm } from './text/automaton.ts';

interface Writer {
  readonly sets: ValueSets;
  readonly rules: { add(text: string): string; repeat(text: string, min: number, max: number): string | undefined };
  rule(all: All): string;
  refusal(all: All, why: string): Error;
}

/** Values that `uniqueItems` holds in any order: each set of values used is a state, each value that may follow an option. */
const MAX_UNIQUE = 30;
/** Of 10 values in an array of any length, or of 18 in one of three items. */
const MAX_UNIQUE_OPTIONS = 6_000;

/** Undefined if no array has the shape. Throws CompletionError. */
export function arrayText(writer: Writer, shape: ArrayShape, all: All): string | undefined {
  const { rules, sets } = writer;
  const { prefix, items, min } = shape;
  const firstNone = prefix.findIndex((each) => sets.allowsNothing(each));
  const length = firstNone < 0 ? (sets.allowsNothing(items) ? prefix.length : Number.POSITIVE_INFINITY) : firstNone;
  const max = Math.min(shape.max, length);
  if (max < min) return undefined;
  if (max === 0) return shape.contains.some((each) => each.min > 0) ? undefined : '"[" ws "]"';
  if (shape.isUnique && max > 1) return uniqueText(writer, { ...shape, max }, all);
  if (shape.contains.length > 0) return containsText(writer, { ...shape, max }, all);
  const own = Math.min(prefix.length, max);
  const pairOf = (name: string) => `"," ws ${name}`;
  const rest =
    max > own
      ? rules.repeat(pairOf(writer.rule(items)), Math.max(0, min - Math.max(1, own)), max - Math.max(1, own))
      : undefined;
  if (own === 0) {
    const list = `${writer.rule(items)} ${rest ?? ''}`;
    return `"[" ws ${min === 0 ? `(${list})?` : list} ws "]"`;
  }
  let tail = rest ?? '""';
  // More items follow only if all before them are there.
  for (let i = own - 1; i >= 0; i -= 1) {
    const name = writer.rule(prefix[i] ?? []);
    const text = `${i === 0 ? name : pairOf(name)} ${tail}`;
    tail = rules.add(i < min ? text : `${text} | ""`);
  }
  return `"[" ws ${tail} ws "]"`;
}

/** At least `min` items of a schema among further items. */
function containsText(writer: Writer, shape: ArrayShape, all: All): string | undefined {
  const [{ value, min, max }, ...more] = shape.contains as [Contains, ...Contains[]];
  const isHeld = more.length === 0 && max === Number.POSITIVE_INFINITY && shape.max === Number.POSITIVE_INFINITY;
  if (!isHeld || shape.prefix.length > 0 || shape.min > min || min > 100)
    throw writer.refusal(all, 'combines `contains` with other keywords of arrays in a way that is not supported');
  const wanted = allOf(shape.items, value);
  if (writer.sets.allowsNothing(wanted)) return undefined;
  const [item, other] = [writer.rule(wanted), writer.rule(shape.items)];
  const list = Array.from({ length: min }, () => `(${other} "," ws)* ${item}`).join(' "," ws ');
  return `"[" ws ${list} ("," ws ${other})* ws "]"`;
}

/** Items without duplicates: one of few values each. */
function uniqueText(writer: Writer, shape: ArrayShape, all: All): string | undefined {
  const { sets, rules } = writer;
  const nodes = constantsOf(sets, sets.of(shape.items));
  const max = Math.min(shape.max, nodes?.length ?? 0);
  const options = uniqueOptions(nodes?.length ?? 0, max);
  if (nodes === undefined || options > MAX_UNIQUE_OPTIONS || shape.prefix.length > 0 || shape.contains.length > 0)
    throw writer.refusal(all, 'uses `uniqueItems` for other items than few listed values');
  sets.make.work.spend(options);
  const known = new Map<number, string>();
  // What may follow when the values of `used` are written.
  const after = (used: number, count: number): string => {
    const found = known.get(used);
    if (found) return found;
    const options = nodes.flatMap((text, i) => {
      if (count >= max || (used & (1 << i)) !== 0) return [];
      return [`${count > 0 ? '"," ws ' : ''}${rules.add(text)} ${after(used | (1 << i), count + 1)}`];
    });
    const name = rules.add([...options, ...(count >= shape.min ? ['""'] : [])].join(' | '));
    known.set(used, name);
    return name;
  };
  return max < shape.min ? undefined : `"[" ws ${after(0, 0)} ws "]"`;
}

/** The number of options in all states of up to `max` of `count` distinct values. */
function uniqueOptions(count: number, max: number): number {
  let [sets, options] = [1, 0];
  for (let used = 0; used < max; used += 1) {
    options += sets * (count - used);
    sets *= (count - used) / (used + 1);
  }
  return options;
}

/** The texts of all values as rules, if these are few null, booleans, strings or integers. */
function constantsOf({ make, numbers }: ValueSets, values: Values): string[] | undefined {
  if (values.arrays.length + values.objects.length > 0) return undefined;
  const flags = (['null', 'true', 'false'] as const).filter((each) => values[each]);
  const strings = fewTexts(make, values.string, MAX_UNIQUE);
  const integers = fewTexts(make, make.and(values.number, numbers.writtenInteger), MAX_UNIQUE);
  const fraction = make.and(values.number, make.not(numbers.integer));
  if (!strings || !integers || !isEmptyTerm(make, fraction)) return undefined;
  const texts = [...flags, ...integers, ...strings.map((each) => JSON.stringify(each))].map(literal);
  return texts.length > MAX_UNIQUE ? undefined : texts;
}
