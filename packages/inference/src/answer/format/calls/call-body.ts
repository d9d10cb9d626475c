// Reads what stands between the marks of a call, by the notation of its family.
import type { Cursor, Reading } from '../cursor.ts';
import type { CallSyntax } from '../syntax.ts';
import type { CallWriter } from './call-writer.ts';
import { readJsonCalls, readNamedCall } from './json-call.ts';
import { readBracesCall, readPythonCalls } from './literal-call.ts';
import { readTagsCalls } from './tags-call.ts';

/** Whether there was a call; without one, the cursor may stand anywhere. */
export function readCallBody(cursor: Cursor, calls: CallWriter, { body }: CallSyntax): Reading<boolean> {
  switch (body.kind) {
    case 'json':
      return readJsonCalls(cursor, calls, body);
    case 'named':
      return readNamedCall(cursor, calls, body.header);
    case 'python':
      return readPythonCalls(cursor, calls);
    case 'braces':
      return readBracesCall(cursor, calls, body.quote);
    case 'tags':
      return readTagsCalls(cursor, calls, body);
    default:
      return body satisfies never;
  }
}
