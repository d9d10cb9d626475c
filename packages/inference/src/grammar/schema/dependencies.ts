// `dependentRequired`, `dependentSchemas`, and `dependencies` of earlier drafts.
import type { Schema } from './schema-keywords.ts';
import type { SchemaNode } from './schema-reader.ts';
import { inside, type ValueSets } from './value-sets.ts';
import type { All } from './values.ts';

/** A property that needs further ones, or a schema: it is absent, or present and what it needs holds. */
export interface Dependency {
  readonly absent: All;
  readonly present: All;
  readonly needed: All;
}

export function dependenciesOf(sets: ValueSets, node: SchemaNode): Dependency[] {
  const entries = ['dependentRequired', 'dependentSchemas', 'dependencies'].flatMap((keyword) =>
    Object.entries((node.schema[keyword] ?? {}) as Schema).map(([name, needs]) => ({ keyword, name, needs })),
  );
  return entries.map(({ keyword, name, needs }) => {
    const read = (schema: unknown) => inside(sets, node, schema, `${keyword}/${name}`);
    return {
      absent: read({ properties: { [name]: false } }),
      present: read({ type: 'object', required: [name] }),
      needed: read(Array.isArray(needs) ? { required: needs } : needs),
    };
  });
}
