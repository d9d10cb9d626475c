// Tables of tests: one test for each row, and a comparison of only those members that a row gives.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { vectorsIn } from '../../../../tests/support/vectors.ts';

type Sections = Readonly<Record<string, unknown>>;
const sections: Sections = { ...vectorsIn<Sections>('judge.json'), ...vectorsIn<Sections>('posture.json') };

/** Runs `check` on each row, which begins with the name of its test. */
export function rows<Args extends readonly unknown[]>(
  check: (...args: Args) => unknown,
  table: readonly (readonly [why: string, ...args: Args])[],
): void {
  for (const [why, ...args] of table) it(why, async () => void (await check(...(args as unknown as Args))));
}

/** The same for the rows of a section of vectors/judge.json or vectors/posture.json. */
export function rowsOf<Args extends readonly unknown[]>(section: string, check: (...args: Args) => unknown): void {
  const table = sections[section] as readonly (readonly [why: string, ...args: Args])[] | undefined;
  rows(check, table ?? assert.fail(`the vectors have no ${section}`));
}

export function hasMembers<T extends object>(actual: T | null | undefined, expected: Partial<T>): void {
  const names = Object.keys(expected) as (keyof T)[];
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, actual?.[name]])), expected);
}
