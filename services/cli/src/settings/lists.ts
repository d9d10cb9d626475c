// Settings that are lists of items `name=value`: the union of two levels, and former settings that are items now.
import { splitItems } from '@strata/http';
import { MOVED } from './retired.ts';

export interface Given {
  readonly value: string;
  /** `environment`, `/etc/strata/strata.yaml:3`, or for a secret `file /run/secrets/x`. */
  readonly source: string;
}

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
    const { start, items: given } = splitItems(text);
    const own = new Set(start === '' ? [] : [first]);
    if (start !== '') items.set(first, first === '' ? start : `${first}=${start}`);
    for (const [name, value] of given) {
      if (!value && items.has(name)) continue;
      const item = `${name}=${value}`;
      items.set(name, own.has(name) ? `${items.get(name)},${item}` : item);
      if (value) own.add(name);
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
