// Reads calls whose arguments are literals: Python's calls with named arguments, and Gemma's braces. Each argument is
// emitted when it is complete.

import type { Cursor, Reading } from '../cursor.ts';
import { Marks } from '../marks.ts';
import { MAX_HEADER } from '../syntax.ts';
import type { CallWriter } from './call-writer.ts';
import { readName, streamLiteral } from './literal.ts';

const PAREN = new Marks(['(']);
const BRACE = new Marks(['{']);
const EQUALS = new Marks(['=', ',', ')', '(', '\n']);
const PYTHON = { quotes: ['"""', "'''", '"', "'"] };
const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** Reads a list of calls, or calls on lines of their own; false without one. */
export function* readPythonCalls(cursor: Cursor, calls: CallWriter): Reading<boolean> {
  const isList = yield* cursor.pass('[');
  for (let hasCall = false; ; hasCall = true) {
    yield* cursor.passSpace();
    if (hasCall && (yield* cursor.pass(','))) yield* cursor.passSpace();
    if (isList && hasCall && (yield* cursor.pass(']'))) return true;
    const from = cursor.at;
    if (hasCall) cursor.keptFrom = from;
    if (yield* readPythonCall(cursor, calls)) {
      if (calls.isBroken) return true;
      continue;
    }
    cursor.at = from;
    return hasCall;
  }
}

function* readPythonCall(cursor: Cursor, calls: CallWriter): Reading<boolean> {
  const from = cursor.at;
  if ((yield* cursor.until(PAREN, { max: MAX_HEADER })) === undefined) return false;
  const name = cursor.slice(from).trim();
  if (!calls.tool(name)) return false;
  cursor.at += 1;
  yield* cursor.passSpace();
  let key: string | undefined;
  if ((yield* cursor.peek()) !== ')') {
    key = yield* readKeyword(cursor);
    if (key === undefined) return false;
  }
  calls.begin(name);
  calls.arguments('{');
  for (let separator = ''; key !== undefined; separator = ', ') {
    cursor.keptFrom = cursor.at;
    calls.arguments(`${separator}${JSON.stringify(key)}: `);
    if (!(yield* streamLiteral(cursor, PYTHON, (json) => calls.arguments(json)))) return brokenOff(cursor, calls);
    cursor.keptFrom = cursor.at;
    yield* cursor.passSpace();
    key = (yield* cursor.pass(',')) ? yield* readKeyword(cursor) : undefined;
  }
  yield* cursor.passSpace();
  yield* cursor.pass(')');
  calls.arguments('}');
  cursor.keptFrom = undefined;
  return true;
}

/** A call whose arguments stay incomplete. */
function brokenOff(cursor: Cursor, calls: CallWriter): true {
  calls.isBroken = true;
  // What was read in vain may contain the end of the call.
  cursor.at = cursor.keptFrom ?? cursor.at;
  cursor.keptFrom = undefined;
  return true;
}

function* readKeyword(cursor: Cursor): Reading<string | undefined> {
  yield* cursor.passSpace();
  const { text, mark } = yield* cursor.taking(EQUALS, { max: MAX_HEADER });
  const key = text.trim();
  if (mark !== '=' || !IDENTIFIER.test(key)) return undefined;
  cursor.at += 1;
  return key;
}

/** Reads `call:name{…}`. */
export function* readBracesCall(cursor: Cursor, calls: CallWriter, quote: string): Reading<boolean> {
  yield* cursor.passSpace();
  if (!(yield* cursor.pass('call:'))) return false;
  const from = cursor.at;
  if ((yield* cursor.until(BRACE, { max: MAX_HEADER })) === undefined) return false;
  const name = cursor.slice(from).trim();
  if (!calls.tool(name)) return false;
  cursor.at += 1;
  calls.begin(name);
  calls.arguments('{');
  const options = { quotes: [quote, '"'] };
  for (let separator = ''; ; separator = ', ') {
    cursor.keptFrom = cursor.at;
    yield* cursor.passSpace();
    if (yield* cursor.pass('}')) break;
    if (separator !== '' && !(yield* cursor.pass(','))) break;
    const key = yield* readName(cursor, options);
    if (key === undefined) break;
    calls.arguments(`${separator}${JSON.stringify(key)}: `);
    if (!(yield* streamLiteral(cursor, options, (json) => calls.arguments(json)))) return brokenOff(cursor, calls);
  }
  calls.arguments('}');
  cursor.keptFrom = undefined;
  return true;
}
