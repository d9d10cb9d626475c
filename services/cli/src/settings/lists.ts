// Settings that are lists of items `name=value`: the union of two levels, and former settings that are items now.
import { MOVED } from './retired.ts';

export interface Given {
  readonly value: string;
  /** `environment`, `/etc/strata/strata.yaml:3`, or for a secret `file /run/secrets/x`. */
  readonly source: string;
}

const ITEM = /(?:^|[\s,])([A-Za-z][\w-]*)=/;

/**
 * The items of both, of two with the same name the later one. A list may start with a value of its own, as the port in
 * `9464,gateway=9465`.
 */
export function mergedItems(earlier: string, later: string): string {
  const items = new Map<string, string>();
  let first = '';
  for (const text of [earlier, later]) {
    const [start, ...rest] = text.split(ITEM).map((part) => part.trim().replace(/,$/, ''));
    first = start || first;
    for (const [at, name] of rest.entries()) if (at % 2 === 0) items.set(name, `${name}=${rest[at + 1]}`);
  }
  return [first, ...items.values()].filter((text) => text !== '').join(',');
}

/** Adds former settings to their lists, unless the list has the item; warns about each, without its value. */
export function moveToLists(level: ReadonlyMap<string, Given>, warnings: string[]): ReadonlyMap<string, Given> {
  const moved = new Map(level);
  for (const [name, { list, item }] of MOVED) {
    const former = moved.get(name);
    if (former === undefined) continue;
    moved.delete(name);
    warnings.push(`${name} is an item of ${list} now: write ${item}=… there`);
    if (new RegExp(`(?:^|[\\s,])${item}=`).test(level.get(list)?.value ?? '')) continue;
    const items = moved.get(list);
    const value = mergedItems(items?.value ?? '', `${item}=${former.value}`);
    moved.set(list, { value, source: items?.source ?? former.source });
  }
  return moved;
}
