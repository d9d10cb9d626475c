// Settings that are lists of items `name=value`: the union of two levels, and former settings that are items now.
import { MOVED } from './retired.ts';

export interface Given {
  readonly value: string;
  /** `environment`, `/etc/strata/strata.yaml:3`, or for a secret `file /run/secrets/x`. */
  readonly source: string;
}

const ITEM = /(?:^|[\s,])([A-Za-z][\w-]*)\s*=/;

/** The item of a value without a name at the start of a list, as of the port in `9464,gateway=9465`. */
const FIRST_ITEMS: Readonly<Record<string, string>> = { STRATA_METRICS_PORT: 'stack' };

/**
 * The items of both texts of a list, of two with the same name that of `later`, unless it is empty. Two in one text stay:
 * the service refuses them.
 */
export function mergedItems(list: string, earlier: string, later: string): string {
  const first = FIRST_ITEMS[list] ?? '';
  const items = new Map([['', '']]);
  for (const text of [earlier, later]) {
    const [start = '', ...rest] = text.split(ITEM).map((part) => part.replace(/^[\s,]+|(?<![\s,])[\s,]+$/g, ''));
    const own = new Set(start === '' ? [] : [first]);
    if (start !== '') items.set(first, first === '' ? start : `${first}=${start}`);
    for (const [at, name] of rest.entries()) {
      if (at % 2 === 1 || (!rest[at + 1] && items.has(name))) continue;
      const item = `${name}=${rest[at + 1]}`;
      items.set(name, own.has(name) ? `${items.get(name)},${item}` : item);
      if (rest[at + 1]) own.add(name);
    }
  }
  return [...items.values()].filter((text) => text !== '').join(',');
}

/** Adds former settings to their lists, unless the list has the item; warns about each, without its value. */
export function moveToLists(level: ReadonlyMap<string, Given>, warnings: string[]): ReadonlyMap<string, Given> {
  const moved = new Map(level);
  for (const [name, { list, item }] of MOVED) {
    const former = moved.get(name);
    if (former === undefined) continue;
    moved.delete(name);
    const given = mergedItems(list, '', level.get(list)?.value ?? '');
    const isGiven = new RegExp(`(?:^|[\\s,])${item}=[^\\s,]`).test(given);
    warnings.push(
      isGiven
        ? `${name} has no effect: ${list} has ${item}=…`
        : `${name} is an item of ${list} now: write ${item}=… there`,
    );
    if (isGiven) continue;
    const items = moved.get(list);
    const value = mergedItems(list, items?.value ?? '', `${item}=${former.value}`);
    moved.set(list, { value, source: items?.source ?? former.source });
  }
  return moved;
}
