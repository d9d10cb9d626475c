// The schema.org types with which a page describes its owner: types of the top-level nodes of its JSON-LD
// (https://schema.org, JSON-LD 1.1 §3.5).

/** A page describes itself in a few nodes; lists of products have thousands. */
const MAX_NODES = 64;
const MAX_TYPES = 32;
const MAX_TYPE_LENGTH = 64;

/**
 * Type names (`Hospital`) of the top-level nodes and those of `@graph`; empty for invalid JSON. Nested nodes describe
 * other things.
 */
export function schemaTypesOf(json: string): readonly string[] {
  let document: unknown;
  try {
    document = JSON.parse(json);
  } catch {
    return [];
  }
  const types = new Set<string>();
  for (const node of topNodes(document).slice(0, MAX_NODES)) {
    for (const type of listOf(node['@type'])) {
      const name = typeof type === 'string' ? schemaTypeName(type) : null;
      if (name !== null && types.size < MAX_TYPES) types.add(name);
    }
  }
  return [...types];
}

/** `Hospital` for `https://schema.org/Hospital` and `schema:Hospital`; null for text that is not a type name. */
export function schemaTypeName(type: string): string | null {
  if (type.length > MAX_TYPE_LENGTH) return null;
  return /^(?:https?:\/\/schema\.org\/|schema:)?([A-Za-z][A-Za-z0-9]*)$/.exec(type)?.[1] ?? null;
}

type Node = Readonly<Record<string, unknown>>;

function topNodes(document: unknown): readonly Node[] {
  return listOf(document).flatMap((node) => {
    if (!isNode(node)) return [];
    return Object.hasOwn(node, '@graph') ? listOf(node['@graph']).filter(isNode) : [node];
  });
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_NODES) : [value];
}
