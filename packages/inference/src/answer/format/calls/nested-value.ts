// Values that are elements again: an object has one for each member, a list has elements named `item`.
import type { Schema } from './call-writer.ts';
import { isSchema, parameterSchema, typedJson, typesOf } from './typed-value.ts';

interface NestedOptions {
  /** The prefix of every tag. */
  readonly nested: string;
  readonly schema: Schema | undefined;
  readonly root: Schema | undefined;
}

const MAX_DEPTH = 32;

/** The JSON text of the value; undefined if it is not written as elements, or may only be a string. */
export function nestedJson(text: string, options: NestedOptions, depth = 0): string | undefined {
  const { nested, schema, root } = options;
  const types = typesOf(schema, root);
  const body = text.trim();
  if (!body.startsWith(`${nested}<`) || depth > MAX_DEPTH || types?.has('string')) return undefined;
  const members: { readonly name: string; readonly json: string }[] = [];
  for (let at = 0; at < body.length; ) {
    const opened = /\s*<([\w.:-]{1,128})>/y;
    if (!body.startsWith(nested, at)) return undefined;
    opened.lastIndex = at + nested.length;
    const name = opened.exec(body)?.[1];
    if (name === undefined) return undefined;
    const from = opened.lastIndex;
    const close = `${nested}</${name}>`;
    const to = closeOf(body, from, { open: `${nested}<${name}>`, close });
    if (to < 0) return undefined;
    const inner = innerSchema(schema, name);
    const value = body.slice(from, to);
    const json = nestedJson(value, { ...options, schema: inner }, depth + 1) ?? typedJson(value, typesOf(inner, root));
    members.push({ name, json });
    at = to + close.length;
    while (/\s/.test(body[at] ?? '')) at += 1;
  }
  const isList = types?.has('array') && (!types.has('object') || members.every(({ name }) => name === 'item'));
  if (isList || (!types && members.every(({ name }) => name === 'item')))
    return `[${members.map(({ json }) => json).join(', ')}]`;
  return `{${members.map(({ name, json }) => `${JSON.stringify(name)}: ${json}`).join(', ')}}`;
}

/** The position of the end of an element, which may contain elements of the same name; -1 without one. */
function closeOf(
  body: string,
  from: number,
  { open, close }: { readonly open: string; readonly close: string },
): number {
  const marks = new RegExp(`${RegExp.escape(open)}|${RegExp.escape(close)}`, 'g');
  marks.lastIndex = from;
  let depth = 1;
  for (let found = marks.exec(body); found; found = marks.exec(body)) {
    depth += found[0] === open ? 1 : -1;
    if (depth === 0) return found.index;
  }
  return -1;
}

function innerSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const own = parameterSchema(schema, name);
  if (own || !schema) return own;
  if (isSchema(schema.items) && name === 'item') return schema.items;
  for (const branch of [schema.anyOf, schema.oneOf, schema.allOf])
    for (const each of Array.isArray(branch) ? branch : []) {
      const found = isSchema(each) ? innerSchema(each, name) : undefined;
      if (found) return found;
    }
  return undefined;
}
