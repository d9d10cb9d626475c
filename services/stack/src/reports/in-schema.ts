// Values of the code in the names of the API: `isSigned` becomes `is_signed`.
import type { z } from 'zod';

type Camel<Name extends string> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : Name;
type ReadonlyList<T> = T extends (infer Item)[] ? readonly Item[] : T;
type Named<Report> = { readonly [Name in keyof Report & string as Camel<Name>]: ReadonlyList<Report[Name]> };

/** Only the members that the schema names, sorted: canonical JSON has this order. */
export function inSchema<Schema extends z.ZodObject>(schema: Schema, value: Named<z.input<Schema>>): z.input<Schema> {
  // The type of `value` has these names with these types.
  const values = value as Readonly<Record<string, unknown>>;
  const report: Record<string, unknown> = {};
  for (const [name, own] of namesOf(schema)) report[name] = values[own];
  return report as z.input<Schema>;
}

type Names = readonly (readonly [name: string, own: string])[];
const namesBySchema = new WeakMap<z.ZodObject, Names>();

function namesOf(schema: z.ZodObject): Names {
  let names = namesBySchema.get(schema);
  if (!names) {
    const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const sorted = Object.keys(schema.shape).sort();
    names = sorted.map((name) => [name, camel(name)]);
    namesBySchema.set(schema, names);
  }
  return names;
}

/** A copy with sorted members: what is canonical already is signed in less time. */
export const sortMembers = <Value extends object>(value: Value): Value =>
  Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) as Value;
