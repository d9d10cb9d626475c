// Calls without marks within text: only what follows distinguishes a call from an example of one.

import type { Cursor, Reading } from '../cursor.ts';
import type { Marks } from '../marks.ts';
import type { CallWriter } from './call-writer.ts';

/** Reads calls with `body`. They count as the rest of a line that they begin, or as the end of the message. */
export function* readLoneCall(
  cursor: Cursor,
  calls: CallWriter,
  { body, ends, isLine }: { readonly body: Reading<boolean>; readonly ends: Marks; readonly isLine: boolean },
): Reading<boolean> {
  cursor.pinnedFrom = cursor.at;
  calls.hold();
  const isCall = (yield* body) && !calls.isBroken && (yield* isAtEnd(cursor, ends, isLine)) && !cursor.isFull;
  calls.settle(isCall);
  cursor.pinnedFrom = undefined;
  return isCall;
}

function* isAtEnd(cursor: Cursor, ends: Marks, isLine: boolean): Reading<boolean> {
  const space = isLine ? /[ \t]/ : /\s/;
  while (space.test(yield* cursor.peek())) cursor.at += 1;
  return (yield* cursor.markHere(ends)) !== undefined || /^[\r\n]?$/.test(yield* cursor.peek());
}
