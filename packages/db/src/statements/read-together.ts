// Reads of single rows in one statement, if they are asked for in the same turn of the event loop: a round trip costs more than a row.

/** Keys in one statement. On SQLite it occupies the event loop. */
const MAX_KEYS = 32;

/**
 * A function that reads the value of a key with `read`, which gets distinct keys. Each read begins after it was asked for, so
 * that it finds what was committed before. Undefined for a key without a value. A rejection is passed to all that wait.
 */
export function readTogether<Value>(
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  let next: { readonly keys: Set<string>; readonly values: Promise<ReadonlyMap<string, Value>> } | undefined;
  const begin = () => {
    const keys = new Set<string>();
    const values = new Promise(setImmediate).then(() => {
      if (next === begun) next = undefined;
      return read([...keys]);
    });
    const begun = { keys, values };
    return begun;
  };
  return async (key) => {
    if (next === undefined || next.keys.size >= MAX_KEYS) next = begin();
    next.keys.add(key);
    return (await next.values).get(key);
  };
}
