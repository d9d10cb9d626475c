// Settings that are lists of items `name=value`: the union of two levels, and former settings that are items now.
import { MOVED } from './retired.ts';

export interface Given {
  readonly value: string;
  /** `environment`, `/etc/strata/strata.yaml:3`, or for a secret `file /run/secrets/x`. */
  readonly source: string;
}

/** Where the items begin. A list may start with a value of its own, as the port in `9464,gateway=9465`. */
const ITEM = /(?:^|[\s,])[A-Za-z][\w-]*=/;

/** The items of the settings file and of the environment. Of two with the same name the later one counts. */
export function mergedItems(earlier: string, later: string): string {
  const [start, items] = startAndItems(earlier);
  const [ownStart, ownItems] = startAndItems(later);
  return [ownStart || start, items, ownItems].filter((text) => text !== '').join(',');
}

function startAndItems(text: string): readonly [start: string, items: string] {
  const at = text.search(ITEM);
  return at < 0 ? [text.trim(), ''] : [text.slice(0, at).trim(), text.slice(at).replace(/^[\s,]/, '')];
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
